import type { z } from 'zod';
import { PolicyOption } from '../../agent/policy/declaration.ts';
import * as store from '../../database/store/run/declaration.ts';
import { wireSchema, type WireSchema } from '../declared/wire-schema.ts';

/** What is declared of runs, for operations that are not declared yet. */

const wire = <Schema extends z.ZodType>(schema: Schema) => wireSchema(schema) as unknown as WireSchema<Schema>;

export const RunStatus = wire(store.RunStatus);
export const Usage = wire(store.Usage);
export const ContextPolicy = wire(PolicyOption);
