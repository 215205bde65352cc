import type { z } from 'zod';
import type { Json } from '../context/message.ts';
import type { CamelCase } from '../../base/common/case.ts';
import type { adaptiveOptions } from './adaptive.ts';
import type { AotResult, aotOptions } from './aot.ts';
import type { gotOptions } from './got.ts';
import type { commonOptions } from './inquiry/inquiry.ts';
import type { totOptions } from './tot/tree.ts';
import type { TotResult } from './tot/result.ts';
import type { trmOptions } from './trm.ts';

/**
 * The options and the result of each strategy, by name. Add your own strategies, so that the compiler checks requests
 * that use them:
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

/**
 * The name of a strategy in `StrategyTypes`, or any string if the agents and their strategies are not known at compile
 * time.
 */
export type StrategyName = keyof StrategyTypes | (string & Record<never, never>);

/** The options that the strategy with this name takes; `object` if it is not known at compile time. */
export type StrategyOptions<NAME> = [NAME] extends [never]
  ? object
  : NAME extends keyof StrategyTypes
    ? StrategyTypes[NAME]['options']
    : object;

/** The result type of a run with this strategy; CONTRACT if the output contract determines it. */
export type ResultUnder<NAME, CONTRACT> = NAME extends keyof StrategyTypes
  ? StrategyTypes[NAME] extends { result: infer RESULT }
    ? RESULT
    : CONTRACT
  : Json;

/** A strategy whose result the output contract determines. */
interface Plain {
  options: Record<string, never>;
}

type Options<Shape extends z.ZodRawShape> = CamelKeys<z.input<z.ZodObject<Shape>> & z.input<typeof commonOptions>>;

/** Includes `| undefined`, so that unset options can be passed on. */
type CamelKeys<Given> = { [Key in keyof Given as CamelCase<Key & string>]?: Given[Key] | undefined };
