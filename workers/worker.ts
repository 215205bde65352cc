/** Entry point of a worker container: `lanefold worker`, with the same options and environment. */
import { main } from '../src/ops/cli/main.ts';

process.exitCode = await main(['worker', ...process.argv.slice(2)]);
