/** The strategy chosen for a question, and why. */
export interface StrategySelection {
  strategy: string;
  /** How complex the question looks, 0 to 1. */
  score: number;
  task_type: string;
}
