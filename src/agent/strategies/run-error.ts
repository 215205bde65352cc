/** Why a run failed: a stable `type`, such as `llm_request`, and a message for people. */
export interface RunError {
  type: string;
  message: string;
}
