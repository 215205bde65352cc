export interface AppOptions {
  /** Default `LANEFOLD_API_KEY`. Without a key only loopback is served. */
  apiKey?: string;
  /** Largest body of a request, in bytes; default 4 MiB. */
  maxBodyBytes?: number;
  /** Told of faults behind an answer of 500 or above; default: one line on stderr. Must not throw. */
  onError?: (error: unknown, request: { method: string; path: string }) => void;
}

export interface ServerOptions extends AppOptions {
  /** Default `LANEFOLD_HOST`, else `127.0.0.1`. Any other than loopback needs a key. */
  host?: string;
  /** Default `LANEFOLD_PORT`, else 4100; 0 for any free one. */
  port?: number;
  /** Where the port is taken, try the next ones; default false. */
  nextFreePort?: boolean;
}

export interface RunningServer {
  /** Without a slash at its end. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Takes no more requests, lets those under way end for two seconds, and closes. */
  close(): Promise<void>;
}
