import type { z } from 'zod';
import { Id as IdHere } from '../../base/operations/schemas.ts';
import { Call as CallHere } from '../../database/store/run/declaration.ts';
import { wireSchema } from '../declared/wire-schema.ts';

export const Id = wireSchema(IdHere) as z.ZodString;
export const Call = wireSchema(CallHere) as z.ZodString;
