/* highlight_languages.c - the words and quotes of each language. */
#include "markdown/highlight_languages.h"

/* Words are sorted as bytes: highlight.c stops looking where one is greater. */
const struct highlight_language highlight_languages[] = {
    {.names = "c h",
     .keywords = "_Alignas _Alignof _Atomic _Generic _Noreturn _Static_assert "
                 "_Thread_local auto break case const constexpr continue default do else "
                 "enum extern for goto if inline register restrict return sizeof static "
                 "struct switch typedef union volatile while",
     .types = "FILE NULL bool char double false float int int16_t int32_t int64_t int8_t "
              "intptr_t long ptrdiff_t short signed size_t ssize_t true uint16_t uint32_t "
              "uint64_t uint8_t uintptr_t unsigned va_list void wchar_t",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_PREPROCESSOR},
    {.names = "cpp c++ cc cxx hpp hh objc cuda",
     .keywords = "_Alignas _Alignof _Atomic _Generic _Noreturn _Static_assert "
                 "_Thread_local alignas alignof and auto break case catch class co_await "
                 "co_return co_yield concept const const_cast consteval constexpr "
                 "constinit continue decltype default delete do dynamic_cast else enum "
                 "explicit export extern final for friend goto if inline module mutable "
                 "namespace new noexcept not operator or override private protected "
                 "public register reinterpret_cast requires restrict return sizeof static "
                 "static_assert static_cast struct switch template this thread_local "
                 "throw try typedef typeid typename union using virtual volatile while",
     .types = "FILE NULL auto bool char double false float int int16_t int32_t int64_t "
              "int8_t intptr_t long map nullptr optional pair ptrdiff_t set shared_ptr "
              "short signed size_t ssize_t std string string_view true uint16_t uint32_t "
              "uint64_t uint8_t uintptr_t unique_ptr unsigned va_list vector void wchar_t",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_PREPROCESSOR},
    {.names = "cs csharp c#",
     .keywords = "abstract as async await base break case catch checked class const "
                 "continue default delegate do else enum event explicit extern finally "
                 "fixed for foreach get goto if implicit in init interface internal is "
                 "lock namespace new operator out override params partial private "
                 "protected public readonly record ref return sealed set sizeof static "
                 "struct switch this throw try typeof unchecked unsafe using var virtual "
                 "void when where while yield",
     .types = "bool byte char decimal double dynamic false float int long null object "
              "sbyte short string true uint ulong ushort",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_PREPROCESSOR},
    {.names = "java",
     .keywords = "abstract assert break case catch class continue default do else enum "
                 "extends final finally for if implements import instanceof interface "
                 "native new package permits private protected public record return "
                 "sealed static strictfp super switch synchronized this throw throws "
                 "transient try var volatile while yield",
     .types = "Boolean Byte Character Double Float Integer List Long Map Object Set "
              "String boolean byte char double false float int long null short true void",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_TRIPLE},
    {.names = "kotlin kt kts",
     .keywords = "abstract actual as break by catch class companion const constructor "
                 "continue crossinline data do else enum expect external final finally "
                 "for fun get if import in infix init inline inner interface internal is "
                 "it lateinit noinline object open operator out override package private "
                 "protected public reified return sealed set super suspend tailrec this "
                 "throw try typealias val var vararg when where while",
     .types = "Any Boolean Byte Char Double Float Int List Long Map Nothing Set Short "
              "String Unit false null true",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_TRIPLE},
    {.names = "swift",
     .keywords = "as associatedtype async await break case catch class continue default "
                 "defer deinit do else enum extension fallthrough fileprivate final for "
                 "func get guard if import in indirect init inout internal is lazy let "
                 "mutating nonisolated open operator override private protocol public "
                 "repeat required rethrows return set some static struct subscript super "
                 "switch throw throws try typealias unowned var weak where while",
     .types = "Any Array Bool Character Dictionary Double Float Int Optional Self Set "
              "String UInt Void false nil self true",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"",
     .flags = HIGHLIGHT_TRIPLE},
    {.names = "js javascript jsx mjs cjs node",
     .keywords = "as async await break case catch class const continue debugger default "
                 "delete do else export extends finally for from function get if import "
                 "in instanceof let new of return set static super switch this throw try "
                 "typeof var void while with yield",
     .types = "Array Boolean Date Error Infinity JSON Map Math NaN Number Object Promise "
              "Proxy RegExp Set String Symbol WeakMap console false globalThis null true "
              "undefined",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_BACKTICK},
    {.names = "ts typescript tsx mts",
     .keywords = "abstract as async await break case catch class const continue debugger "
                 "declare default delete do else enum export extends finally for from "
                 "function get if implements import in infer instanceof interface is "
                 "keyof let namespace new of private protected public readonly return "
                 "satisfies set static super switch this throw try type typeof var void "
                 "while with yield",
     .types = "Array Boolean Date Error Infinity JSON Map Math NaN Number Object Partial "
              "Promise Proxy Readonly Record RegExp Set String Symbol WeakMap any bigint "
              "boolean console false globalThis never null number object string symbol "
              "true undefined unknown",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_BACKTICK},
    {.names = "py python python3 pyi",
     .keywords = "and as assert async await break case class continue def del elif else "
                 "except finally for from global if import in is lambda match nonlocal "
                 "not or pass raise return try while with yield",
     .types = "Exception False None True bool bytes cls dict float frozenset int len list "
              "object print range self set str super tuple type",
     .comment = "#",
     .quotes = "\"'",
     .flags = HIGHLIGHT_TRIPLE},
    {.names = "rb ruby",
     .keywords = "alias and begin break case class def defined? do else elsif end ensure "
                 "extend for if in include loop module next not or private protected "
                 "public raise redo require require_relative rescue retry return super "
                 "then undef unless until when while yield",
     .types = "attr_accessor attr_reader attr_writer false nil puts self true",
     .comment = "#",
     .open = "=begin",
     .close = "=end",
     .quotes = "\"'"},
    {.names = "php",
     .keywords = "abstract and as break case catch class clone const continue declare "
                 "default do echo else elseif enum extends final finally fn for foreach "
                 "function global goto if implements include include_once instanceof "
                 "interface match namespace new or print private protected public "
                 "readonly require require_once return static switch throw trait try use "
                 "var while yield",
     .types = "array bool callable false float int iterable mixed null object self string "
              "this true void",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_DOLLAR},
    {.names = "go golang",
     .keywords = "break case chan const continue default defer else fallthrough for func "
                 "go goto if import interface map package range return select struct "
                 "switch type var",
     .types = "any append bool byte cap close comparable complex128 copy delete error "
              "false float32 float64 int int16 int32 int64 int8 iota len make new nil "
              "panic print println recover rune string true uint uint16 uint32 uint64 "
              "uint8 uintptr",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_BACKTICK},
    {.names = "rs rust",
     .keywords = "as async await break const continue crate dyn else enum extern fn for "
                 "if impl in let loop match mod move mut pub ref return static struct "
                 "super trait type unsafe use where while",
     .types = "Box Err None Ok Option Result Self Some String Vec bool char f32 f64 false "
              "i128 i16 i32 i64 i8 isize self str true u128 u16 u32 u64 u8 usize",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_LONE_QUOTE},
    {.names = "zig",
     .keywords = "align allowzero and anyframe async await break catch comptime const "
                 "continue defer else enum errdefer error export extern fn for if inline "
                 "noalias nosuspend opaque or orelse packed pub resume return struct "
                 "suspend switch test threadlocal try union unreachable usingnamespace "
                 "var volatile while",
     .types = "anyerror anytype bool f32 f64 false i16 i32 i64 i8 isize null true type "
              "u16 u32 u64 u8 undefined usize void",
     .comment = "//",
     .quotes = "\"'"},
    {.names = "sh bash shell zsh console shell-session ksh fish",
     .keywords = "break case continue do done elif else esac eval exec exit export fi for "
                 "function if in local read readonly return select set shift source then "
                 "trap unset until while",
     .types = "alias awk cat cd chmod cp curl docker echo false find git grep ls make "
              "mkdir mv npm npx pip printf pwd python python3 rm sed sudo test touch true",
     .comment = "#",
     .quotes = "\"'",
     .flags = HIGHLIGHT_DOLLAR | HIGHLIGHT_DASHES | HIGHLIGHT_COMMENT_SPACE},
    {.names = "json jsonc json5 jsonl",
     .keywords = "",
     .types = "false null true",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"",
     .flags = HIGHLIGHT_KEYS},
    {.names = "yaml yml",
     .keywords = "",
     .types = "false no null off on true yes",
     .comment = "#",
     .quotes = "\"'",
     .flags = HIGHLIGHT_KEYS | HIGHLIGHT_DASHES | HIGHLIGHT_COMMENT_SPACE | HIGHLIGHT_LONE_QUOTE},
    {.names = "toml ini conf cfg properties env",
     .keywords = "",
     .types = "false true",
     .comment = "#",
     .quotes = "\"'",
     .flags = HIGHLIGHT_TRIPLE | HIGHLIGHT_LONE_QUOTE},
    {.names = "sql sqlite postgres postgresql mysql psql",
     .keywords = "add all alter and as asc begin between by cascade case check collate "
                 "column commit constraint create cross database default delete desc "
                 "distinct drop else end except exists foreign from full group having if "
                 "in index inner insert intersect into is join key left like limit "
                 "natural not null offset on or order outer primary references returning "
                 "right rollback select set table then transaction trigger union unique "
                 "update using values view when where with",
     .types = "bigint blob boolean char date decimal double false float int integer json "
              "jsonb numeric real serial smallint text time timestamp true uuid varchar",
     .comment = "--",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_ANY_CASE},
    {.names = "lua",
     .keywords = "and break do else elseif end for function goto if in local not or "
                 "repeat return then until while",
     .types = "false nil self true",
     .comment = "--",
     .open = "--[[",
     .close = "]]",
     .quotes = "\"'"},
    {.names = "html xml svg vue xhtml",
     .keywords = "",
     .types = "",
     .open = "<!--",
     .close = "-->",
     .quotes = "\"'",
     .flags = HIGHLIGHT_LONE_QUOTE | HIGHLIGHT_DASHES},
    {.names = "css scss less",
     .keywords = "and from import important include keyframes media mixin not supports to",
     .types = "auto block bold flex grid inherit initial none solid",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'",
     .flags = HIGHLIGHT_KEYS | HIGHLIGHT_DASHES},
    {.names = "make makefile mk cmake dockerfile docker",
     .keywords = "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN SHELL "
                 "USER VOLUME WORKDIR define else endef endif export ifdef ifeq ifndef "
                 "ifneq include override",
     .types = "",
     .comment = "#",
     .quotes = "\"'",
     .flags = HIGHLIGHT_DOLLAR | HIGHLIGHT_DASHES | HIGHLIGHT_LONE_QUOTE},
    {.names = "proto protobuf graphql",
     .keywords = "enum extend extends fragment import input interface message mutation "
                 "oneof option optional package query repeated required reserved returns "
                 "rpc scalar service subscription syntax type union",
     .types = "Boolean Float ID Int String bool bytes double false fixed32 fixed64 float "
              "int32 int64 map sint32 sint64 string true uint32 uint64",
     .comment = "//",
     .open = "/*",
     .close = "*/",
     .quotes = "\"'"},
    {.names = "nix hcl terraform tf",
     .keywords = "assert data else for if in inherit let locals module output provider "
                 "rec resource then variable with",
     .types = "false null true",
     .comment = "#",
     .open = "/*",
     .close = "*/",
     .quotes = "\""},
    {.names = "diff patch", .keywords = "", .types = "", .quotes = "", .flags = HIGHLIGHT_DIFF},
};

const size_t highlight_languages_count =
    sizeof(highlight_languages) / sizeof(highlight_languages[0]);
