import { z } from 'zod';

const Count = z.number().int().min(1).optional();

/** Limits as callers give them. */
export const LimitFields = z.strictObject({ requestsPerMinute: Count, runs: Count, streams: Count, bodyBytes: Count });
