import { createHash } from 'node:crypto';

interface AnthropicRequest {
  tools?: object[];
  system?: object[];
  messages: { role: string; content: object[] }[];
}

/** What the cache made of one request, in tokens. */
export interface CacheUse {
  read: number;
  written: number;
  /** All input tokens. */
  input: number;
  /** Where this request departs from the one before it; undefined where it begins with all of it. */
  brokenAt: string | undefined;
}

/** A block of a request, in the order of the cache: tools, system prompt, messages. */
interface Block {
  /** Tools, the prompt, or the message by its index. */
  of: string;
  /** Whether a breakpoint stands after it. */
  marked: boolean;
  /** Identifies the request up to and with this block. */
  prefix: string;
  /** Tokens of the request up to and with this block. */
  tokens: number;
}

/** Blocks at a breakpoint and before it that are searched for what is cached. */
const lookBack = 20;
const maxBreakpoints = 4;

/**
 * The prompt cache of Anthropic as its documentation describes it: what stands before a breakpoint is cached as a whole if
 * it is long enough, and a request reads the longest beginning that is cached and ends at a breakpoint of its own, or at
 * most 20 blocks before one.
 */
export class PrefixCache {
  readonly #cached = new Set<string>();
  #before: Block[] = [];

  /** @param minimum tokens that are cached at least */
  constructor(readonly minimum = 1_024) {}

  request(body: AnthropicRequest): CacheUse {
    const blocks = blocksOf(body);
    const breakpoints = blocks.flatMap(({ marked }, i) => (marked ? [i] : []));
    if (breakpoints.length > maxBreakpoints) throw new Error(`The request has ${breakpoints.length} breakpoints.`);
    const found = breakpoints
      .flatMap((at) => blocks.slice(Math.max(at - lookBack + 1, 0), at + 1))
      .filter(({ prefix }) => this.#cached.has(prefix));
    const read = Math.max(0, ...found.map(({ tokens }) => tokens));
    const long = breakpoints.map((at) => blocks[at]!).filter(({ tokens }) => tokens >= this.minimum);
    for (const { prefix } of long) this.#cached.add(prefix);
    const brokenAt = this.#before.find(({ prefix }, i) => blocks[i]?.prefix !== prefix)?.of;
    this.#before = blocks;
    return {
      read,
      written: Math.max(0, ...long.map(({ tokens }) => tokens - read)),
      input: blocks.at(-1)?.tokens ?? 0,
      brokenAt,
    };
  }
}

function blocksOf({ tools = [], system = [], messages }: AnthropicRequest): Block[] {
  const blocks: Block[] = [];
  const push = (of: string, role: string) => (item: object) => {
    const { cache_control: marker, ...rest } = item as { cache_control?: object };
    const text = JSON.stringify(rest);
    const { prefix, tokens } = blocks.at(-1) ?? { prefix: '', tokens: 0 };
    blocks.push({
      of,
      marked: marker !== undefined,
      prefix: createHash('sha256').update(prefix).update(role).update(text).digest('hex'),
      tokens: tokens + Math.ceil(Buffer.byteLength(text) / 4),
    });
  };
  tools.forEach(push('tools', 'tool'));
  system.forEach(push('system prompt', 'system'));
  messages.forEach(({ role, content }, i) => content.forEach(push(`message ${i}`, role)));
  return blocks;
}
