import type { Library } from '../features/library/library.ts';
import { createAppWith } from '../server/app.ts';
import type { ApiApp } from '../server/env.ts';
import type { AppOptions } from '../server/options.ts';
import { agUiDoor } from './ag-ui/routes.ts';
import { durableStreamsDoor } from './durable-streams/routes.ts';

/** The HTTP API with all its protocols. */
export const createApp = (lanefold: Library, options: AppOptions & { closing?: AbortSignal } = {}): ApiApp =>
  createAppWith([agUiDoor, durableStreamsDoor], lanefold, options);
