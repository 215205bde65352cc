import { OpenAPIHono } from '@hono/zod-openapi';
import type { Principal } from '../access/principal.ts';

/** Variables that middlewares pass along with a request. */
export interface ApiEnv {
  Variables: {
    /** The raw body, within the size limit. */
    body: Buffer;
    /** Who makes the request; unset where nobody needs to say. */
    principal: Principal;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
