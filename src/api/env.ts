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
    /** What a request of `/v1` acts on: the threads of the tenant of its key, or all that the server sees. */
    lanefold: TenantLibrary;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
