/** Splits a stream of bytes into lines, each given to the function without its end. */
export function lineSplitter(each) {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    let from = 0;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10, from)) {
      each(rest.subarray(from, at).toString("utf8"));
      from = at + 1;
    }
    rest = rest.subarray(from);
  };
}
