// What `lope view` answers and refuses, without a socket.
#include "view_site.h"

#include <lope/io/frame.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lope::program {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string token = "0123456789abcdef0123456789abcdef";

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

class SiteTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("site_" + make_token());
    write(folder_ / "page/index.html", "<html>");
    write(folder_ / "page/assets/page.js", "1");
    write(folder_ / "secret.txt", "secret");
    write(folder_ / "scenes/small.toml",
          "[scene]\ndescription = \"a small one\"\n[[body]]\nshape = { box = { size = [1, 1, 1] } }\n");
    write(folder_ / "pictures/small.png", "png");
    write(run() / "scene.toml", "the scene");
    write(run() / "run.lock", "");
    write(run() / "log.txt", "one\ntwo\npart");
    write(run() / "stats.jsonl", "{\"step\":1}\n{\"step\":2}\n");
    write(run() / "secret.txt", "secret");
    io::Frame frame;
    frame.data.metadata["scene"] = "small";
    fs::create_directories(run() / "frames");
    for (const std::int64_t number : {0, 1, 2, 5}) {
      frame.number = number;
      ASSERT_TRUE(io::write_frame(frame, io::frame_path(run() / "frames", number)));
    }
    ASSERT_TRUE(io::write_frame(frame, io::topology_path(run() / "frames")));
    SiteOptions options;
    options.token = token;
    options.port = 4000;
    options.page = folder_ / "page";
    options.pictures = folder_ / "pictures";
    options.runs = folder_ / "runs";
    options.scenes = {folder_ / "scenes/small.toml"};
    site_.emplace(options, runs_);
    id_ = runs_.add(run());
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path run() const { return folder_ / "runs/small"; }
  static Request get(const std::string& path) {
    Request request;
    request.method = "GET";
    request.path = "/" + token + "/" + path;
    request.hosts = {"127.0.0.1:4000"};
    return request;
  }
  static Request post(const std::string& path, const std::string& body = "{}") {
    Request request = get(path);
    request.method = "POST";
    request.origins = {"http://127.0.0.1:4000"};
    request.content_type = "application/json";
    request.body = body;
    return request;
  }
  std::string of_run(const std::string& what) const {
    return "api/run/" + std::to_string(id_) + (what.empty() ? "" : "/" + what);
  }
  Response answer(const Request& request) { return site_->answer(request); }
  int status(const Request& request) { return answer(request).status; }

  fs::path folder_;
  ViewedRuns runs_{"/no/such/program"};
  std::optional<Site> site_;
  int id_ = 0;
};

TEST_F(SiteTest, ServesThePageAndNothingElseOfItsFolder) {
  EXPECT_EQ(answer(get("")).body, "<html>");
  EXPECT_EQ(answer(get("assets/page.js")).type, "text/javascript; charset=utf-8");
  Request bare = get("");
  bare.path = "/" + token;
  EXPECT_EQ(status(bare), 301);
  for (const char* path :
       {"page.js", "assets/", "assets/other.js", "../secret.txt", "assets/../../secret.txt",
        "..%2fsecret.txt", "/etc/passwd", "assets/../index.html"})
    EXPECT_EQ(status(get(path)), 404) << path;
}

TEST_F(SiteTest, TellsBrowsersToLoadNothingFromElsewhere) {
  for (const Request& request : {get(""), get("api/runs"), get("nowhere")}) {
    std::map<std::string, std::string> headers;
    for (const auto& [name, value] : answer(request).headers) headers[name] = value;
    EXPECT_NE(headers["Content-Security-Policy"].find("default-src 'none'"), std::string::npos);
    EXPECT_EQ(headers["Cross-Origin-Resource-Policy"], "same-origin");
    EXPECT_EQ(headers["Referrer-Policy"], "no-referrer");
  }
}

TEST_F(SiteTest, AsksForTheToken) {
  for (const std::string& path :
       std::vector<std::string>{"/", "", "/" + token.substr(1) + "/", "/" + token + "0/", "/api/runs",
                                "/x/" + token + "/", "/" + std::string(32, '0') + "/api/runs"}) {
    Request request = get("");
    request.path = path;
    EXPECT_EQ(status(request), 403) << path;
    EXPECT_EQ(answer(request).body.find(token), std::string::npos);
  }
  EXPECT_EQ(make_token().size(), 32u);
  EXPECT_NE(make_token(), make_token());
}

TEST_F(SiteTest, AnswersToItsOwnNamesOnly) {
  Request request = get("");
  request.hosts = {"localhost:4000"};
  EXPECT_EQ(status(request), 200);
  const std::vector<std::vector<std::string>> wrong{{},
                                                    {"evil.example"},
                                                    {"evil.example:4000"},
                                                    {"127.0.0.1"},
                                                    {"127.0.0.1:4001"},
                                                    {"127.0.0.1:4000", "127.0.0.1:4000"}};
  for (const auto& hosts : wrong) {
    request.hosts = hosts;
    EXPECT_EQ(status(request), 403);
  }
}

TEST_F(SiteTest, RefusesRequestsFromOtherPages) {
  Request reading = get("api/runs");
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1:4000", "http://localhost:4000",
                             "http://127.0.0.1:4001"}) {
    reading.origins = {origin};
    EXPECT_EQ(status(reading), 403) << origin;
    Request changing = post(of_run("stop"));
    changing.origins = {origin};
    EXPECT_EQ(status(changing), 403) << origin;
  }
  Request nameless = post(of_run("stop"));
  nameless.origins = {};
  EXPECT_EQ(status(nameless), 403);
  Request form = post(of_run("stop"));
  form.content_type = "text/plain";
  EXPECT_EQ(status(form), 415);
  EXPECT_EQ(status(post(of_run("stop"))), 409) << "the run was not started here";
}

TEST_F(SiteTest, ChangesNothingByGetting) {
  for (const std::string& path :
       {std::string("api/start"), of_run("stop"), of_run("resume"), of_run("checkpoint")}) {
    const int code = status(get(path));
    EXPECT_TRUE(code == 404 || code == 405) << path;
  }
  for (const char* method : {"PUT", "DELETE", "HEAD", "OPTIONS", ""}) {
    Request request = post("api/runs");
    request.method = method;
    EXPECT_EQ(status(request), 405) << method;
  }
}

TEST_F(SiteTest, GivesTheFilesOfARunByTheirKnownNames) {
  const json info = json::parse(answer(get(of_run(""))).body);
  EXPECT_EQ(info["frames"], json::parse("[[0,2],[5,5]]"));
  EXPECT_EQ(info["state"], "ended");
  EXPECT_EQ(info["exit"], nullptr);
  EXPECT_EQ(answer(get(of_run("scene"))).body, "the scene");
  EXPECT_TRUE(answer(get(of_run("topology"))).body.starts_with("LOPEFRM"));
  EXPECT_TRUE(answer(get(of_run("frame/5"))).body.starts_with("LOPEFRM"));
  for (const char* what : {"frame/3", "frame/-1", "frame/", "frame/1e2", "frame/5.lope",
                           "frame/99999999999999999999", "frame/0/0", "secret.txt", "../secret.txt",
                           "frame/../../secret.txt", "frames", "run.lock", "scene.toml", "checkpoint.h5"})
    EXPECT_EQ(status(get(of_run(what))), 404) << what;
  for (const char* run : {"api/run/0", "api/run/-1", "api/run/99", "api/run/x", "api/run/",
                          "api/run/4294967297", "api/nothing"})
    EXPECT_EQ(status(get(run)), 404) << run;
}

TEST_F(SiteTest, GivesWholeLinesOfFilesThatGrow) {
  const auto next = [](const Response& response) {
    for (const auto& [name, value] : response.headers) {
      if (name == "Lope-Next") return std::stol(value);
    }
    return -1L;
  };
  Request request = get(of_run("log"));
  Response response = answer(request);
  EXPECT_EQ(response.body, "one\ntwo\n");
  EXPECT_EQ(next(response), 8);
  std::ofstream(run() / "log.txt", std::ios::app) << "ial\n";
  request.query["from"] = "8";
  EXPECT_EQ(answer(request).body, "partial\n");
  request.query["from"] = "1000";
  response = answer(request);
  EXPECT_EQ(response.body, "one\ntwo\npartial\n");
  EXPECT_EQ(response.headers.front().first, "Lope-Restarted");
  for (const char* from : {"-1", "x", "1;", "99999999999999999999"}) {
    request.query["from"] = from;
    EXPECT_EQ(status(request), 400) << from;
  }
  EXPECT_EQ(answer(get(of_run("live"))).body, "") << "there is none";
}

TEST_F(SiteTest, FollowsNoLinkOutOfTheRun) {
  fs::remove(run() / "log.txt");
  fs::create_symlink(folder_ / "secret.txt", run() / "log.txt");
  EXPECT_EQ(answer(get(of_run("log"))).body, "");
  fs::create_symlink(folder_ / "secret.txt", io::frame_path(run() / "frames", 7));
  EXPECT_EQ(status(get(of_run("frame/7"))), 404);
  fs::create_symlink(folder_ / "secret.txt", folder_ / "page/assets/late.js");
  EXPECT_EQ(status(get("assets/late.js")), 404);
}

TEST_F(SiteTest, ListsScenesAndRuns) {
  const json scenes = json::parse(answer(get("api/scenes")).body);
  ASSERT_EQ(scenes.size(), 1u);
  EXPECT_EQ(scenes[0]["description"], "a small one");
  EXPECT_EQ(answer(get("api/picture/small")).body, "png");
  EXPECT_EQ(status(get("api/picture/other")), 404);
  EXPECT_EQ(status(get("api/picture/../secret.txt")), 404);
  write(folder_ / "runs/small-2/run.lock", "");
  const json runs = json::parse(answer(get("api/runs")).body);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0]["id"], id_);
  EXPECT_EQ(json::parse(answer(get("api/runs")).body).size(), 2u) << "a directory keeps its number";
}

TEST_F(SiteTest, RefusesToStartWhatIsNotInTheList) {
  for (const char* body :
       {"", "{", "[]", "{}", "null", "{\"scene\": 1}", "{\"scene\": \"small\", \"set\": 1}",
        "{\"scene\": \"small\", \"set\": [1]}", "{\"scene\": \"small\", \"set\": [\"nothing\"]}"})
    EXPECT_EQ(status(post("api/start", body)), 400) << body;
  for (const char* scene : {"other", "../scenes/small", "/etc/passwd", ""})
    EXPECT_EQ(status(post("api/start", json{{"scene", scene}}.dump())), 404) << scene;
  const auto changed = [this](const json& change) {
    return answer(post("api/start", json{{"scene", "small"}, {"set", change}}.dump()));
  };
  const auto elsewhere = [&](const char* change) {
    const Response response = changed({change});
    return response.status == 400 && response.body.find("elsewhere") != std::string::npos;
  };
  for (const char* change :
       {"body.0.shape.mesh=/etc/passwd", "body.0.shape.mesh=\"/etc/passwd\"",
        "body.0.shape.mesh = '../../x.obj'", "body.0.shape={mesh=\"/etc/passwd\"}",
        "body.0.shape = { mesh = '/etc/passwd' }", "body.0.shape={mesh=\"\\u002fetc/passwd\"}",
        "body.0.shape={mesh=\"\\u002e\\u002e/x\"}", "obstacle=[{shape={mesh=\"a/../../x\"}}]",
        "output={directory=\"x\"}", "output.directory=x", "time.duration=1\noutput.directory=x"})
    EXPECT_TRUE(elsewhere(change)) << change;
  for (const char* change :
       {"scene.description=1/2 of it", "output.fields=[]", "body.0.shape={mesh=\"a/b.obj\"}"})
    EXPECT_FALSE(elsewhere(change)) << change;
  EXPECT_EQ(changed({"=1"}).status, 400);
  EXPECT_EQ(changed({std::string(500, 'x') + "=1"}).status, 400);
  EXPECT_EQ(changed(std::vector<std::string>(100, "time.duration=1")).status, 400);
  const Response wrong = changed({"time.duration=1 apple"});
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.body.find("time.duration"), std::string::npos) << "the words of the scene's error";
}

}  // namespace
}  // namespace lope::program
