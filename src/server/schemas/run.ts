import type { z } from 'zod';
import { PolicyOption } from '../../agent/policy/declaration.ts';
import * as store from '../../database/store/run/declaration.ts';
import * as runs from '../../runs/operations/runs/declaration.ts';
import { wireSchema, type WireSchema } from '../declared/wire-schema.ts';

/** What is declared of runs, for operations that are not declared yet. */

const wire = <Schema extends z.ZodType>(schema: Schema) => wireSchema(schema) as unknown as WireSchema<Schema>;

export const RunStatus = wire(store.RunStatus);
export const RunRef = wire(store.RunRef);
export const RunWait = wire(store.RunWait);
export const RunReceipt = wire(store.RunReceipt);
export const Usage = wire(store.Usage);
export const cost = wire(store.RunCost).shape;
export const marks = (of: string) => wire(store.marks(of));
export const NewRun = wire(runs.NewRun);
export const ContextPolicy = wire(PolicyOption);
