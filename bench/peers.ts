import { parseArgs } from 'node:util';
import { available } from './comparison/available.ts';
import { ours, peers } from './comparison/contestants.ts';
import { installPeers } from './comparison/install.ts';
import { printFigures, printRatios, printStorage } from './comparison/tables.ts';
import { enterAll } from './support/contestant.ts';
import { printMachine } from './support/machine.ts';
import { measureInTurn } from './support/side-by-side.ts';
import { startServers } from './setup.ts';

// npm run bench:peers [-- --seconds 5 --rounds 3 --warm-up 5] [lanefold-postgres lanefold-redis dbos …]

const concurrencies = [1, 10, 50] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    'warm-up': { type: 'string', default: '5' },
  },
});

const names = [...ours, ...peers].map(({ name }) => name);
const unknown = positionals.find((name) => !names.includes(name));
if (unknown) throw new Error(`System "${unknown}" does not exist; choose from ${names.join(', ')}.`);
const isWanted = ({ name }: { name: string }) => positionals.length === 0 || positionals.includes(name);

installPeers();
const servers = await startServers();
try {
  printMachine(servers);
  const wanted = ours.filter(isWanted).filter(({ usesRedis }) => !usesRedis || servers.redisUrl !== undefined);
  const own = await enterAll(servers, wanted);
  const others = await available(servers, peers.filter(isWanted));
  const contestants = [...own, ...others];
  const figuresOf = await measureInTurn(servers, contestants, {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    warmUpSeconds: Number(values['warm-up']),
    concurrencies,
  });
  console.log(`\nMedian of ${values.rounds} interleaved rounds; CPU in ms per run`);
  printFigures(contestants, concurrencies, figuresOf);
  console.log('\nStored per run');
  printStorage(contestants, concurrencies[0], figuresOf);
  if (own.length > 0 && others.length > 0) {
    console.log(
      '\nLanefold compared with each peer: runs per second (more is better), CPU of Node and of all processes (less is better)',
    );
    printRatios(own, others, concurrencies, figuresOf);
  }
} finally {
  await servers.stop();
}
