import type { z } from '@hono/zod-openapi';
import { Content as declared } from '../../agent/models/content-schema.ts';
import type { ContentInput } from '../../agent/models/accept-content.ts';
import { wireSchema } from '../declared/wire-schema.ts';

export const Content = wireSchema(declared) as unknown as z.ZodType<ContentInput>;
