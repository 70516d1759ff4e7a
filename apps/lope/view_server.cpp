#include "view_server.h"

#include <lope/base/errors.h>

#include <chrono>
#include <thread>

#include <httplib.h>
#include <sys/socket.h>

namespace lope::program {
namespace {

constexpr const char* here = "127.0.0.1";
constexpr std::size_t largest_body = 64 << 10;  // bytes of a request
// A connection that is kept open holds a thread, and a browser opens six for each page.
constexpr std::size_t threads = 32;

std::vector<std::string> headers(const httplib::Request& request, const char* name) {
  std::vector<std::string> values;
  const auto [begin, end] = request.headers.equal_range(name);
  for (auto header = begin; header != end; ++header) values.push_back(header->second);
  return values;
}

Request our_request(const httplib::Request& from) {
  Request request{from.method, from.path, {}, headers(from, "Host"), headers(from, "Origin"), {}, from.body};
  for (const auto& [key, value] : from.params) request.query[key] = value;
  const std::string type = from.get_header_value("Content-Type");
  request.content_type = type.substr(0, type.find(';'));
  return request;
}

// As it is: cpp-httplib compresses what it takes as a whole, slowly, and nothing here goes over a wire.
void send(std::string body, const std::string& type, httplib::Response& to) {
  if (body.empty()) return to.set_header("Content-Type", type);
  const auto kept = std::make_shared<std::string>(std::move(body));
  to.set_content_provider(kept->size(), type,
                          [kept](std::size_t from, std::size_t length, httplib::DataSink& sink) {
                            // The range that a request asks for comes unchecked.
                            if (from > kept->size() || length > kept->size() - from) return false;
                            return sink.write(kept->data() + from, length);
                          });
}

}  // namespace

struct ViewServer::State {
  httplib::Server server;
  std::thread thread;
};

ViewServer::ViewServer(std::unique_ptr<State> state, int port) : state_(std::move(state)), port_(port) {}
ViewServer::ViewServer(ViewServer&&) noexcept = default;

ViewServer::~ViewServer() {
  if (!state_ || !state_->thread.joinable()) return;
  state_->server.stop();
  state_->thread.join();
}

Expected<ViewServer> ViewServer::open(int port) {
  auto state = std::make_unique<State>();
  httplib::Server& server = state->server;
  // No port is shared with another program.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_payload_max_length(largest_body);
  server.set_keep_alive_max_count(1000000);
  server.set_tcp_nodelay(true);
  server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
  const int taken = port > 0 ? (server.bind_to_port(here, port) ? port : -1) : server.bind_to_any_port(here);
  if (taken < 0)
    return environment_error("port {} of {} cannot be had; leave out --port to take one that is free", port,
                             here);
  return ViewServer(std::move(state), taken);
}

void ViewServer::serve(std::function<Response(const Request&)> answer) {
  const auto handle = [answer = std::move(answer)](const httplib::Request& from, httplib::Response& to) {
    Response response = answer(our_request(from));
    to.status = response.status;
    send(std::move(response.body), response.type, to);
    for (const auto& [name, value] : response.headers) to.set_header(name.c_str(), value);
  };
  state_->server.Get(".*", handle).Post(".*", handle);
  state_->thread = std::thread([this_state = state_.get()] { this_state->server.listen_after_bind(); });
  // Before that it could not be stopped.
  while (!state_->server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace lope::program
