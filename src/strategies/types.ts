import type { z } from 'zod';
import type { Json } from '../context/message.ts';
import type { CamelCase } from '../case.ts';
import type { adaptiveOptions } from './adaptive/options.ts';
import type { AotResult } from './aot/aot.ts';
import type { aotOptions } from './aot/options.ts';
import type { gotOptions } from './got/options.ts';
import type { commonOptions } from './inquiry/options.ts';
import type { totOptions } from './tot/options.ts';
import type { TotResult } from './tot/result.ts';
import type { trmOptions } from './trm/options.ts';

/**
 * The options and the result of each strategy, by its name. Add your own, so that requests with them are checked:
 *
 * @example
 * declare module 'lanefold' {
 *   interface StrategyTypes {
 *     'self-consistency': { options: { samples?: number }; result: string | null };
 *   }
 * }
 */
export interface StrategyTypes {
  react: Plain;
  cot: Plain;
  cod: Plain;
  aot: { options: Options<typeof aotOptions>; result: AotResult | null };
  tot: { options: Options<typeof totOptions>; result: TotResult | null };
  got: { options: Options<typeof gotOptions>; result: string | null };
  trm: { options: Options<typeof trmOptions>; result: string | null };
  adaptive: { options: CamelKeys<z.input<typeof adaptiveOptions>>; result: Json };
}

/** What a strategy of this name takes; an object for a name that is not known at compile time. */
export type StrategyOptions<Name extends string> = Name extends keyof StrategyTypes
  ? StrategyTypes[Name]['options']
  : object;

/** What a run of a strategy of this name results in; null where it failed without a result. */
export type StrategyResult<Name extends string> = Name extends keyof StrategyTypes
  ? StrategyTypes[Name]['result']
  : Json;

interface Plain {
  options: Record<string, never>;
  result: Json;
}

type Options<Shape extends z.ZodRawShape> = CamelKeys<z.input<z.ZodObject<Shape>> & z.input<typeof commonOptions>>;

/** With `| undefined`, so that options may be passed on that are not set. */
type CamelKeys<Given> = { [Key in keyof Given as CamelCase<Key & string>]?: Given[Key] | undefined };
