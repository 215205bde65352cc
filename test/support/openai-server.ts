import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropicAnswer } from './anthropic-protocol.ts';
import { googleAnswer } from './google-protocol.ts';
import { openaiAnswer } from './openai-protocol.ts';

/** A model response, for any protocol. `fragments` is the number of pieces of each text and argument (default 3). */
export interface ModelAnswer {
  text?: string;
  reasoning?: string;
  toolCalls?: { id?: string; name: string; arguments: string }[];
  finishReason?: string;
  /** Input and output tokens; `null` omits the usage. Default [10, 5]. */
  usage?: [number, number] | null;
  /** The usage as this server sends it, in place of the protocol's. */
  rawUsage?: unknown;
  fragments?: number;
  /** Closes the socket after this many stream events. */
  cutAfter?: number;
  /** Goes silent after this many stream events, until the client disconnects. */
  hangAfter?: number;
}

/** A model response, a raw HTTP response, or no response at all. */
export type Reply = ModelAnswer | { status: number; headers?: Record<string, string>; body?: unknown } | { hang: true };

/** A reply, or a function of the request that may be asynchronous. */
export type QueuedReply = Reply | ((request: RecordedRequest) => Reply | Promise<Reply>);

export interface RecordedRequest {
  url: string;
  headers: IncomingHttpHeaders;
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any
  /** Resolves when the connection of this request is closed, by either side. */
  closed: Promise<void>;
}

export interface ModelServer {
  /** Base URL with `/v1`, for all protocols. */
  url: string;
  requests: RecordedRequest[];
  /** Queues replies, one per request. With an empty queue the server responds with 500. */
  reply(...replies: QueuedReply[]): void;
  /** Drops the replies that no request has asked for. */
  clear(): void;
  /** Resolves with the next request. */
  nextRequest(): Promise<RecordedRequest>;
  close(): Promise<void>;
}

/** A scripted model server on a free local port: OpenAI's chat completions, Anthropic's messages, Google's Gemini. */
export async function startModelServer(): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const replies: QueuedReply[] = [];
  let waiting: ((request: RecordedRequest) => void)[] = [];

  const server = createServer(async (incoming, response) => {
    const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
    const text = await readBody(incoming);
    const request = { url: incoming.url ?? '', headers: incoming.headers, body: parse(text), closed };
    requests.push(request);
    const next = replies.shift() ?? { status: 500, body: { error: { message: 'The test queued no reply.' } } };
    const reply = typeof next === 'function' ? next(request) : next;
    if (!(reply instanceof Promise)) send(request, response, reply);
    for (const wake of waiting.splice(0)) wake(request);
    if (reply instanceof Promise) send(request, response, await reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    reply: (...more) => void replies.push(...more),
    clear: () => void replies.splice(0),
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        waiting = [];
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(request: RecordedRequest, response: ServerResponse, reply: Reply): void {
  if ('hang' in reply) return;
  if ('status' in reply) {
    const body = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {});
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(body);
    return;
  }
  const answer = protocolOf(request.url)(reply);
  // Gemini requests a stream in the path, the others in the body
  if (!request.body?.stream && !request.url.includes(':streamGenerateContent')) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.whole));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [i, event] of answer.events.entries()) {
    // destroyed in the callback of the write, so that the client receives everything before
    if (reply.cutAfter === i) return void response.write('\n', () => response.destroy());
    if (reply.hangAfter === i) return;
    response.write(event);
  }
  response.end();
}

const protocolOf = (url: string) =>
  url.endsWith('/messages') ? anthropicAnswer : /:\w*[gG]enerateContent/.test(url) ? googleAnswer : openaiAnswer;

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const parse = (text: string): unknown => (text === '' ? undefined : JSON.parse(text));
