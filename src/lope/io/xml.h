// The small part of XML that VTK files use: elements with attributes, text, comments and declarations; no
// entities beyond the five standard ones, no document types. The parser walks forward over the bytes of a
// Scanner.
#pragma once

#include <lope/io/scanner.h>

#include <map>
#include <string>
#include <string_view>

namespace lope::io {

struct XmlTag {
  std::string_view name;
  std::map<std::string, std::string, std::less<>> attributes;
  bool opens = false;   // <name>
  bool closes = false;  // </name>; both for <name/>
  std::size_t place = 0;

  // The attribute, or `otherwise` if there is none.
  std::string_view attribute(std::string_view key, std::string_view otherwise = "") const;
};

// Moves behind the next tag, skipping text, comments and declarations. An empty name at the end of the file
// or after a failure of the Scanner.
XmlTag next_tag(Scanner& in);

// The text from here to the next '<'.
std::string_view take_text(Scanner& in);

// With &, <, >, " and ' replaced, to be written as an attribute.
std::string xml_escaped(std::string_view text);

}  // namespace lope::io
