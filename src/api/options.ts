export interface AppOptions {
  /** Serve this tenant alone, without Bull Board and metrics, which show all; default: that of the library. */
  tenant?: string;
  /** Default `LANEFOLD_API_KEY`. Without a key, only loopback requests are answered. */
  apiKey?: string;
  /** Maximum size of a request body, in bytes; default 4 MiB. */
  maxBodyBytes?: number;
  /** Serve the page at `/`; default true, unless `LANEFOLD_PAGE` is `off`. */
  page?: boolean;
  /** How long a request body may take to arrive, in ms; default 20,000. */
  bodyTimeoutMs?: number;
  /**
   * Bytes of request bodies that this server may hold at once, bytes of large answers that clients have not taken yet, and
   * bytes of large messages that readers of streams have not; default 64 MiB each. Beyond that requests get 503
   * `server_busy`, and streams end to be resumed.
   */
  maxHeldBytes?: number;
  /** Live streams that this server may serve at once; default 1,000. Beyond that requests get 503 `server_busy`. */
  maxStreams?: number;
  /**
   * How long an answer of the database about a key is used, in ms; default 5,000, at least 100. A key that was revoked works for so long at
   * most, and for twice as long in streams that are open.
   */
  keyRecheckMs?: number;
  /**
   * Called with the error behind a response of 500 or above, and who made the request, if that is known; default: log it on
   * stderr. Must not throw.
   */
  onError?: (error: unknown, request: { method: string; path: string; actor?: string }) => void;
}

export interface ServerOptions extends AppOptions {
  /** Default `LANEFOLD_HOST`, else `127.0.0.1`. Any host other than loopback requires a key. */
  host?: string;
  /** Default `LANEFOLD_PORT`, else 4100; 0 picks a free port. */
  port?: number;
  /** If the port is taken, try the next ones; default false. */
  nextFreePort?: boolean;
}

export interface RunningServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Stops accepting requests, gives running ones two seconds to end, and closes. */
  close(): Promise<void>;
}
