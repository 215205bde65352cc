import type { Library } from '../features/library/library.ts';
import { guard } from './access/guard.ts';
import { bullBoard, bullBoardPath } from './bull-board/board.ts';
import { addDocs } from './docs.ts';
import type { Door } from './door.ts';
import type { ApiApp } from './env.ts';
import { addOperations } from './handlers/handlers.ts';
import { answerFailures } from './failures.ts';
import { emptyApp } from './openapi.ts';
import type { AppOptions } from './options.ts';
import { addPage } from './page/routes.ts';
import { addMcp } from './routes/mcp.ts';
import { addMetrics, addProbes } from './routes/probes.ts';
import { addSignedEvents } from './routes/signed-events.ts';
import { siteOf, type Site } from './site.ts';

type Part = (app: ApiApp, site: Site) => void;

/** What answers requests, in the order in which they reach it. */
const parts: readonly Part[] = [
  answerFailures,
  guard,
  (app, site) => site.doors.forEach((door) => door.add(app, site)),
  addSignedEvents,
  addOperations,
  addProbes,
  addDocs,
  addMcp,
  addPage,
];

/** Shows all tenants: an application of one tenant has none of it. */
const everywhere: readonly Part[] = [
  addMetrics,
  (app, { lanefold, page }) => app.route(bullBoardPath, bullBoard(lanefold, { page })),
];

/**
 * The application behind `startServer`, mountable wherever a `fetch` handler is accepted. Without a key it only answers
 * requests with a loopback Host.
 */
export function createAppWith(
  doors: readonly Door[],
  all: Library,
  options: AppOptions & { closing?: AbortSignal } = {},
): ApiApp {
  const site = siteOf(doors, all, options);
  const app = emptyApp();
  for (const add of parts) add(app, site);
  if (site.lanefold.tenant === undefined) for (const add of everywhere) add(app, site);
  return app;
}
