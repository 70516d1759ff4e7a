// The socket of `lope view`: HTTP on 127.0.0.1, by cpp-httplib, which only view_server.cpp includes.
#pragma once

#include <lope/base/expected.h>

#include <functional>
#include <memory>

#include "view_site.h"

namespace lope::program {

class ViewServer {
 public:
  // Takes the port; 0: any that is free.
  static Expected<ViewServer> open(int port);
  ViewServer(ViewServer&&) noexcept;
  ~ViewServer();  // ends the connections

  int port() const { return port_; }
  // Answers from now on, by several threads at a time.
  void serve(std::function<Response(const Request&)> answer);

 private:
  struct State;
  ViewServer(std::unique_ptr<State> state, int port);
  std::unique_ptr<State> state_;
  int port_;
};

}  // namespace lope::program
