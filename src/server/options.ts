import type { Library } from '../features/library/library.ts';

/** What the HTTP API gives to an MCP server that it mounts. */
export interface McpSurroundings {
  /** Answers a request to the HTTP API in this process. */
  door(request: Request): Response | Promise<Response>;
  /**
   * Takes the bytes of an answer from the server's memory budget until its client has taken it. Call it while the request
   * is served, before the answer is written.
   *
   * @throws LanefoldError `server_busy`
   */
  hold(bytes: number): void;
  onError(error: Error): void;
}

/** An MCP server at `/mcp`. */
export interface MountedMcp {
  /** @param message the parsed body of a POST: the request has none then */
  fetch(request: Request, message?: unknown): Promise<Response>;
  close(): Promise<void>;
}

/** What `mountMcp` of `lanefold/mcp` returns. */
export type McpMount = (lanefold: Library, surroundings: McpSurroundings) => MountedMcp;

export interface AppOptions {
  /** Serve this tenant alone, without Bull Board and metrics, which show all tenants; default: the library's tenant. */
  tenant?: string;
  /** The key of the operator. Default `LANEFOLD_API_KEY`. Without a key, only loopback requests are answered. */
  apiKey?: string;
  /**
   * Secrets whose holders may have this server work for a bounded time, `POST /v1/work`, as Standard Webhooks writes them: `whsec_`
   * and base64. Default `LANEFOLD_WORK_SECRET`, comma-separated. Without one, such a request needs the key.
   */
  workSecrets?: readonly string[];
  /** Maximum size of a request body, in bytes; default 4 MiB. */
  maxBodyBytes?: number;
  /** Serve the page at `/`; default true, unless `LANEFOLD_PAGE` is `off`. */
  page?: boolean;
  /** Serve MCP at `/mcp`: pass `mountMcp()` of `lanefold/mcp`. Default: not served. */
  mcp?: McpMount;
  /** How long a request body may take to arrive, in ms; default 20,000. */
  bodyTimeoutMs?: number;
  /**
   * Bytes that this server may hold at once, by default 64 MiB each for request bodies, large answers that clients have
   * not read yet, and large stream messages that readers have not read yet. Beyond that, requests get 503 `server_busy`, and
   * streams end; their clients can resume them. A tenant, or a key of no tenant, holds at most half of what all others leave
   * free. A single request may hold more.
   */
  maxHeldBytes?: number;
  /**
   * Live streams that this server may serve at once; default 1,000. Beyond that, requests get 503 `server_busy`. A tenant, or a
   * key of no tenant, has at most half of what all others leave free.
   */
  maxStreams?: number;
  /**
   * How long a key's lookup result is reused, in ms; default 5,000, at least 100. A revoked key keeps working for at
   * most this long, and for at most twice as long in open streams.
   */
  keyRecheckMs?: number;
  /**
   * Called with the error behind a response of 500 or above, and with who made the request, if known; default: log it
   * on stderr. Must not throw.
   */
  onError?: (error: unknown, request: { method: string; path: string; actor?: string }) => void;
}

export interface ServerOptions extends AppOptions {
  /** Address to listen on. Default `LANEFOLD_HOST`, else `127.0.0.1`. Any host other than loopback requires a key. */
  host?: string;
  /** Port to listen on. Default `LANEFOLD_PORT`, else 4100; 0 picks a free port. */
  port?: number;
  /** If the port is taken, try the following ports; default false. */
  nextFreePort?: boolean;
}

export interface RunningServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Stops accepting requests, gives running ones two seconds to finish, and closes. */
  close(): Promise<void>;
}
