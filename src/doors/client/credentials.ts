import { LanefoldClientError } from './errors.ts';

/** Exactly one of these, or none for a server on this machine that has no key. */
export interface Credentials {
  /** A browser token, or any other Bearer token. */
  token?: string;
  /** `LANEFOLD_API_KEY`, or a key from `lanefold keys create`. Never give it to a browser. */
  apiKey?: string;
  /** Asks your backend for a browser token: before the first request, and again whenever the server rejects the last. */
  getToken?: () => string | Promise<string>;
}

/** The token of the requests, renewed by `getToken`. */
export class Bearer {
  #held: Promise<string> | undefined;
  readonly #get: Credentials['getToken'];

  constructor({ token, apiKey, getToken }: Credentials) {
    if ([token, apiKey, getToken].filter((given) => given !== undefined).length > 1) {
      throw new LanefoldClientError('invalid_input', 'The client got several of token, apiKey and getToken.', {
        hint: 'Pass one of them: getToken in a browser, apiKey on a server.',
      });
    }
    this.#get = getToken;
    const fixed = token ?? apiKey;
    if (fixed !== undefined) this.#held = Promise.resolve(fixed);
  }

  /** One request for a token serves all calls that wait for it. @throws LanefoldClientError `no_token` */
  current(): Promise<string> | undefined {
    if (this.#held || !this.#get) return this.#held;
    const asked = Promise.resolve().then(this.#get).catch(noToken);
    this.#held = asked;
    asked.catch(() => (this.#held = undefined));
    return asked;
  }

  /** Drops a token that the server rejected. Returns whether there is a way to a new one. */
  async reject(token: string | undefined): Promise<boolean> {
    if (!this.#get) return false;
    if (this.#held && (await this.#held.catch(() => undefined)) === token) this.#held = undefined;
    return true;
  }
}

function noToken(cause: unknown): never {
  const why = cause instanceof Error ? cause.message : String(cause);
  throw new LanefoldClientError('no_token', `getToken failed: ${why}.`, {
    hint: 'Your backend has to answer with a token from POST /v1/tokens, or with an error that the page shows.',
    cause,
  });
}
