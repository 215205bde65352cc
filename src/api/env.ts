import { OpenAPIHono } from '@hono/zod-openapi';

/** Variables that middlewares pass along with a request. */
export interface ApiEnv {
  Variables: {
    /** The raw body, within the size limit. */
    body: Buffer;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
