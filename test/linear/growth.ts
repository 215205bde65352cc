/** A text of about `length` characters: `pump` again and again, between two ends. */
export interface Worst {
  pump: string;
  before?: string;
  after?: string;
}

export const textOf = ({ before = '', pump, after = '' }: Worst, length: number): string =>
  before + pump.repeat(Math.ceil(length / pump.length)) + after;

/** CPU time of this process in ms, the least of some repetitions: what else runs on the machine can only add to one. */
export async function costOf(read: (text: string) => unknown, text: string): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < 3 && least > negligibleMs; i++) {
    const start = process.cpuUsage();
    await read(text);
    least = Math.min(least, msSince(start));
  }
  return least;
}

function msSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/** Below this, a measurement says more about the compiler and the garbage collector than about the text. */
const negligibleMs = 5;

/**
 * How much more CPU time a text takes that is ten times as long: 10 in linear time, 100 in quadratic time. On the way there,
 * a text that is four times as long and already takes seconds says the same, before it takes minutes.
 */
export async function growth(read: (text: string) => unknown, worst: Worst, length: number): Promise<number> {
  let least = Infinity;
  // a collection of garbage, which counts too, may hit only the longer text
  for (let i = 0; i < 3 && least >= tooMuch; i++) least = Math.min(least, await measured(read, worst, length));
  return least;
}

async function measured(read: (text: string) => unknown, worst: Worst, length: number): Promise<number> {
  const cost = (length: number) => costOf(read, textOf(worst, length));
  let before = await cost(1_000);
  for (let long = 4_000; long < length; long *= 4) {
    const now = await cost(long);
    if (now > 1_000 && now > 12 * before) return (now / before) ** (Math.log2(10) / 2);
    before = now;
  }
  return (await cost(length)) / Math.max(await cost(length / 10), negligibleMs);
}

/** Between 10 and 100, and far from both. */
export const tooMuch = 40;
