// What `lope view` answers to requests, apart from any socket (docs/viewer.md). Every address begins with a secret token. Files are
// read by fixed names and by numbers, never by a path out of a request; what changes something is a POST with JSON from the page
// itself.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "view_runs.h"

namespace lope::program {

struct Request {
  std::string method;  // "GET", "POST"
  std::string path;    // decoded, without what follows a question mark
  std::map<std::string, std::string> query;
  std::vector<std::string> hosts;    // the headers Host, which must be one
  std::vector<std::string> origins;  // Origin
  std::string content_type;
  std::string body;
};

struct Response {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// 128 random bits in hexadecimal digits.
std::string make_token();

struct SiteOptions {
  std::string token;
  int port = 0;
  std::filesystem::path page;                 // the built page: index.html and assets/
  std::filesystem::path pictures;             // NAME.png of scenes
  std::filesystem::path runs = "runs";        // where runs are looked for; empty: nowhere
  std::vector<std::filesystem::path> scenes;  // those that can be started
};

class Site {
 public:
  // The files of the page are looked up once; only they are served.
  Site(SiteOptions options, ViewedRuns& runs);

  // Called by several threads.
  Response answer(const Request& request);

 private:
  struct SceneEntry {
    std::string description;
    std::filesystem::path file;
    std::optional<std::filesystem::path> picture;
  };
  std::optional<Response> refusal(const Request& request) const;
  Response route(const std::vector<std::string_view>& parts, const Request& request);
  Response page_file(const std::string& name) const;
  Response scenes() const;
  Response picture(const std::string& scene) const;
  Response list_runs();
  Response start(const Request& request);
  Response run(const ViewedRuns::Status& run, const std::vector<std::string_view>& parts,
               const Request& request);
  Response command(int id, std::string_view what);

  SiteOptions options_;
  ViewedRuns& runs_;
  std::map<std::string, std::filesystem::path> page_;  // by address below the token
  std::map<std::string, SceneEntry> scenes_;           // by name
};

}  // namespace lope::program
