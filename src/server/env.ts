import { OpenAPIHono } from '@hono/zod-openapi';
import type { Principal } from '../base/access/principal.ts';
import type { TenantLibrary } from '../features/library/library.ts';

/** Variables that middlewares pass along with a request. */
export interface ApiEnv {
  Variables: {
    /** The raw body, within the size limit. */
    body: Buffer;
    /** The value of a JSON body; an empty object without a body. */
    json: unknown;
    /** Set once the credential of the request was checked: `limitedBody` reads no body before. */
    admitted: true;
    /** Who makes the request; unset on routes that need no key. */
    principal: Principal;
    /** Identifies the caller again. @throws LanefoldError `unauthorized` once the key or token is no longer valid */
    identify: () => Promise<Principal>;
    /**
     * Checks again that the `/v1` operation is allowed, and returns the principal.
     *
     * @throws LanefoldError `unauthorized`, `forbidden`
     */
    recheck: () => Promise<Principal>;
    /** The library a `/v1` request acts on: the threads of its key's tenant, or all that the server sees. */
    lanefold: TenantLibrary;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
