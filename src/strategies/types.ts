import type { z } from 'zod';
import type { Json } from '../context/message.ts';
import type { CamelCase } from '../common/case.ts';
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

/** The name of a strategy in `StrategyTypes`, or any other, where the agents and their strategies are not known at compile time. */
export type StrategyName = keyof StrategyTypes | (string & Record<never, never>);

/** What a strategy of this name takes; an object for one that is not known at compile time. */
export type StrategyOptions<NAME> = [NAME] extends [never]
  ? object
  : NAME extends keyof StrategyTypes
    ? StrategyTypes[NAME]['options']
    : object;

/** The result of a run of this strategy, CONTRACT where the output contract says what it is. */
export type ResultUnder<NAME, CONTRACT> = NAME extends keyof StrategyTypes
  ? StrategyTypes[NAME] extends { result: infer RESULT }
    ? RESULT
    : CONTRACT
  : Json;

/** Its result is what the output contract says. */
interface Plain {
  options: Record<string, never>;
}

type Options<Shape extends z.ZodRawShape> = CamelKeys<z.input<z.ZodObject<Shape>> & z.input<typeof commonOptions>>;

/** With `| undefined`, so that options may be passed on that are not set. */
type CamelKeys<Given> = { [Key in keyof Given as CamelCase<Key & string>]?: Given[Key] | undefined };
