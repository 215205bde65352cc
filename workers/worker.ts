/** The process of a worker container: `lanefold worker` with the arguments and environment of this process. */
import { main } from '../src/cli/main.ts';

process.exitCode = await main(['worker', ...process.argv.slice(2)]);
