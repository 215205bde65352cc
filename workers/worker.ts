/** The process of a worker container: `lanefold worker` as an entry point of its own, with the same options and environment. */
import { main } from '../src/cli/main.ts';

process.exitCode = await main(['worker', ...process.argv.slice(2)]);
