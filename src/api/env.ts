import { OpenAPIHono } from '@hono/zod-openapi';
import type { Principal } from '../access/principal.ts';
import type { TenantLibrary } from '../library/library.ts';

/** Variables that middlewares pass along with a request. */
export interface ApiEnv {
  Variables: {
    /** The raw body, within the size limit. */
    body: Buffer;
    /** Who makes the request; unset where nobody needs to say. */
    principal: Principal;
    /** Finds out again who it is. @throws LanefoldError `unauthorized` once the key or token is no longer valid */
    identify: () => Promise<Principal>;
    /** Checks again whether an operation of `/v1` is allowed, and returns by whom. @throws LanefoldError `unauthorized`, `forbidden` */
    recheck: () => Promise<Principal>;
    /** What a request of `/v1` acts on: the threads of the tenant of its key, or all that the server sees. */
    lanefold: TenantLibrary;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
