import { OpenAPIHono } from '@hono/zod-openapi';

/** What requests carry between middlewares. */
export interface ApiEnv {
  Variables: {
    /** The body as it came, within its limit. */
    body: Buffer;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
