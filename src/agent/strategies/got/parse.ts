/** An edge that the model found between two thoughts. */
export interface Connection {
  from: number;
  to: number;
  description: string;
}

const connection = /^CONNECTION[:：]\s*\[(\d{1,9})\]\s*->\s*\[(\d{1,9})\]\s*[:：](.*)$/iu;

/** Parses lines such as `CONNECTION: [1] -> [2] : both need water`; skips those that name unknown thoughts. */
export const parseConnections = (text: string, known: ReadonlySet<number>): Connection[] =>
  text.split('\n').flatMap((line) => {
    const found = connection.exec(line.trim());
    if (!found) return [];
    const [from, to] = [Number(found[1]), Number(found[2])];
    return known.has(from) && known.has(to) ? [{ from, to, description: found[3]!.trim() }] : [];
  });

const vote = /(?<![\p{L}\p{N}_])VOTE[:：\s]{1,5}\[?(\d{1,9})/iu;

/** The thought that a vote such as `VOTE: [2]` names; undefined if it names no known thought. */
export function parseVote(text: string, known: ReadonlySet<number>): number | undefined {
  const found = vote.exec(text);
  return found && known.has(Number(found[1])) ? Number(found[1]) : undefined;
}

const weight = /^WEIGHT[:：\s]{0,5}\[(\d{1,9})\]\s*[:：]\s*(\d+(?:\.\d+)?)/iu;

/** Parses lines such as `WEIGHT: [2]: 0.8`, between 0 and 1; a thought without one weighs 0.5. */
export function parseWeights(text: string, nodes: readonly number[]): Map<number, number> {
  const weights = new Map(nodes.map((node) => [node, 0.5]));
  for (const line of text.split('\n')) {
    const found = weight.exec(line.trim());
    if (found && weights.has(Number(found[1]))) weights.set(Number(found[1]), Math.min(Number(found[2]), 1));
  }
  return weights;
}
