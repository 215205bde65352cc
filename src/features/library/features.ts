import type { Alarms } from '../alarms/types.ts';
import type { Circuits } from '../circuits/types.ts';
import type { CaseFiles, EvalEnds } from '../evals/operations/methods.ts';
import type { Evals } from '../evals/operations/types.ts';
import type { Cases } from '../evals/types.ts';
import type { Feedback } from '../feedback/types.ts';
import type { Monitors } from '../monitors/types.ts';
import type { Schedules } from '../schedules/types.ts';
import type { Webhooks } from '../webhooks/types.ts';

/** What the features add to a library. */
export interface FeatureLibrary {
  /** What starts by itself: cron and intervals. Workers start the runs. */
  readonly schedules: Schedules;
  /** Webhooks: endpoints that are told of the ends of runs and the like. */
  readonly webhooks: Webhooks;
  /** Cases: past runs and model calls that evals repeat. */
  readonly cases: Cases & CaseFiles;
  /** Evals: cases asked again under variants, and scored. Workers run them. */
  readonly evals: Evals & EvalEnds;
  /** Monitors: scorers of a share of the runs that end. */
  readonly monitors: Monitors;
  /** Alarms: filters of runs that tell webhooks when too many runs match. */
  readonly alarms: Alarms;
  /** Feedback: what people think of answers. */
  readonly feedback: Feedback;
  /** Circuits: whether workers call models whose providers fail. */
  readonly circuits: Circuits;
}
