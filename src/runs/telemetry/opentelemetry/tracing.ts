import type { Tracer } from '@opentelemetry/api';
import type { Redactor } from '../../../base/redaction/sensitive-keys.ts';
import type { Batch } from './batch.ts';
import type { Meters } from './meters.ts';

/** The state that all spans of a process share. */
export interface Tracing {
  api: typeof import('@opentelemetry/api');
  tracer: Tracer;
  meters: Meters;
  batch: Batch;
  /** Undefined: content is not recorded. */
  content: Redactor | undefined;
}
