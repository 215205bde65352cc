/** A text of about `length` characters: `pump` again and again, between two ends. */
export interface Worst {
  pump: string;
  before?: string;
  after?: string;
}

export const worstOf = (worst: string | Worst): Worst => (typeof worst === 'string' ? { pump: worst } : worst);

export const textOf = ({ before = '', pump, after = '' }: Worst, length: number): string =>
  before + pump.repeat(Math.ceil(length / pump.length)) + after;

/** CPU time of this process in ms, the least of some repetitions: what else runs on the machine can only add to one. */
export function costOf(read: (text: string) => unknown, text: string): number {
  let least = Infinity;
  for (let i = 0; i < 3 && least > negligibleMs; i++) {
    const before = process.cpuUsage();
    read(text);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** Below this, a measurement says more about the compiler and the garbage collector than about the text. */
const negligibleMs = 5;

/**
 * How much more CPU time a text takes that is ten times as long: 10 in linear time, 100 in quadratic time. On the way there,
 * a text that is twice as long and already takes seconds says the same, before it takes minutes.
 */
export function growth(read: (text: string) => unknown, worst: Worst, length: number): number {
  let before = costOf(read, textOf(worst, 500));
  for (let long = 1_000; long < length; long *= 2) {
    const cost = costOf(read, textOf(worst, long));
    if (cost > 1_000 && cost > 3.5 * before) return (cost / before) ** Math.log2(10);
    before = cost;
  }
  return costOf(read, textOf(worst, length)) / Math.max(costOf(read, textOf(worst, length / 10)), negligibleMs);
}

/** Between 10 and 100, and far from both. */
export const tooMuch = 40;
