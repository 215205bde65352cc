/** When the scores of a monitor are low. */
export interface MonitorAlert {
  /** The mean score below which they are, above 0 and up to 1. */
  below: number;
  /** Of how many runs, the last ones, from 1 to 1,000; default 50. A monitor raises or ends an alert at most once in so many runs. */
  of?: number;
}

/** A monitor, as you set it. */
export interface MonitorDefinition {
  /** The agents whose runs it scores; default: all. */
  agents?: string[];
  /** The share of the runs that it scores, above 0 and up to 1; default 0.1. */
  sample?: number;
  /** Names of scorers that workers have; see `defineScorer`. Workers without one of them leave the monitor to others. */
  scorers?: string[];
  /** What a judge looks at. It needs `judge`. */
  rubric?: string;
  /** The agent that scores by the rubric, each answer in a run. */
  judge?: { agent: string; model?: string };
  /** Sends the events `monitor.low` and `monitor.recovered` to webhooks. */
  alert?: MonitorAlert;
}

/** A monitor with its defaults. */
export interface CheckedMonitor {
  agents: string[];
  sample: number;
  scorers: string[];
  rubric: string | null;
  judge: { agent: string; model?: string } | null;
  alert: Required<MonitorAlert> | null;
}
