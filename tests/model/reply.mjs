// One answer on its way: JSON at once, or a stream of server-sent events with whatever the script
// wants to go wrong in it.

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

export function sendJson(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** A web page, as gateways and wrong addresses answer with. */
export function sendPage(response, status, page, headers = {}) {
  response.writeHead(status, { "content-type": "text/html", ...headers });
  response.end(page);
}

/** An event as bytes; a string is sent as it is. */
function eventText({ event, data }) {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** Writes bytes, in parts of that size, each of which reaches the other side by itself. */
async function write(response, text, split) {
  const bytes = Buffer.from(text);
  if (split === 0) return response.write(bytes);
  for (let at = 0; at < bytes.length; at += split) {
    response.write(bytes.subarray(at, at + split));
    await sleep(0);
  }
}

/**
 * Sends what an API made of a turn: events, and the script's waits and faults between them.  Gives
 * how it ended: "sent", "cut" by the script, or "left" by the other side.
 */
export async function sendStream(response, steps, split) {
  let left = false;
  const gone = new Promise((done) => response.on("close", () => done((left = true))));
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  for (const step of steps) {
    if (step.kind === "wait") await Promise.race([sleep(step.wait), gone]);
    else if (step.kind === "stall") await gone;
    else if (step.kind === "raw") await write(response, step.raw, split);
    else if (step.kind === "cut") {
      // What was written so far must arrive before the end does.
      await new Promise((done) => response.write("", done));
      response.destroy();
      return "cut";
    } else await write(response, eventText(step), split);
    if (left) return "left";
  }
  response.end();
  return "sent";
}
