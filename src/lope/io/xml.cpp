#include <lope/io/xml.h>

#include <array>
#include <utility>

namespace lope::io {
namespace {

constexpr std::array<std::pair<char, std::string_view>, 5> entities = {
    {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}}};

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 1;
    char c = text[i];
    for (const auto& [plain, entity] : entities) {
      if (text.substr(i, entity.size()) != entity) continue;
      c = plain;
      length = entity.size();
    }
    out += c;
    i += length;
  }
  return out;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_name(char c) {
  return !is_space(c) && c != '=' && c != '/' && c != '>' && c != '<' && c != '"' && c != '\'';
}

// What stands between '<' and '>': a name, then key="value" pairs. False if it is not well formed.
bool parse_attributes(std::string_view body, XmlTag& tag) {
  std::size_t at = 0;
  const auto skip_space = [&] {
    while (at < body.size() && is_space(body[at])) ++at;
  };
  const auto name = [&] {
    const std::size_t begin = at;
    while (at < body.size() && is_name(body[at])) ++at;
    return body.substr(begin, at - begin);
  };
  tag.name = name();
  if (tag.name.empty()) return false;
  for (skip_space(); at < body.size(); skip_space()) {
    const std::string_view key = name();
    skip_space();
    if (key.empty() || at == body.size() || body[at] != '=') return false;
    ++at;
    skip_space();
    if (at == body.size() || (body[at] != '"' && body[at] != '\'')) return false;
    const std::size_t end = body.find(body[at], at + 1);
    if (end == std::string_view::npos) return false;
    tag.attributes[std::string(key)] = unescaped(body.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return true;
}

// The '>' that ends a tag begun at `at`; quoted ones do not count.
std::size_t tag_end(std::string_view bytes, std::size_t at) {
  char quote = '\0';
  for (; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::string_view XmlTag::attribute(std::string_view key, std::string_view otherwise) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? otherwise : std::string_view(found->second);
}

XmlTag next_tag(Scanner& in) {
  const std::string_view bytes = in.bytes();
  XmlTag tag;
  while (!in.failed()) {
    const std::size_t begin = bytes.find('<', in.position());
    if (begin == std::string_view::npos) {
      in.seek(bytes.size());
      return tag;
    }
    tag.place = begin;
    const bool comment = bytes.substr(begin, 4) == "<!--";
    const std::size_t end = comment ? bytes.find("-->", begin + 4) : tag_end(bytes, begin);
    if (end == std::string_view::npos) {
      in.fail_at(begin, "a tag does not end; the file is truncated, so export or copy it again");
      return tag;
    }
    in.seek(end + (comment ? 3 : 1));
    const char mark = bytes[begin + 1];
    if (comment || mark == '?' || mark == '!') continue;
    std::string_view body = bytes.substr(begin + 1, end - begin - 1);
    tag.closes = !body.empty() && body.front() == '/';
    tag.opens = !tag.closes;
    if (tag.closes) {
      body.remove_prefix(1);
    } else if (!body.empty() && body.back() == '/') {
      tag.closes = true;
      body.remove_suffix(1);
    }
    if (!parse_attributes(body, tag)) in.fail_at(begin, "this tag is not well-formed XML");
    return tag;
  }
  return tag;
}

std::string_view take_text(Scanner& in) {
  const std::size_t begin = in.position();
  const std::size_t end = std::min(in.bytes().find('<', begin), in.bytes().size());
  in.seek(end);
  return in.bytes().substr(begin, end - begin);
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    bool replaced = false;
    for (const auto& [plain, entity] : entities) {
      if (c != plain) continue;
      out += entity;
      replaced = true;
    }
    if (!replaced) out += c;
  }
  return out;
}

}  // namespace lope::io
