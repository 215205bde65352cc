// Generated from the OpenAPI document: run `npm run types:api`.

export type Json =
  | null
  | boolean
  | number
  | string
  | Json[]
  | {
      [key: string]: Json;
    };
export type JsonObject = {
  [key: string]: Json;
};
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description 1 to 128 characters of `[A-Za-z0-9._:@-]`, starting with a letter or digit. */
    Id: string;
    /** @enum {string} */
    RunStatus: 'waiting' | 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'cancelled';
    /** @description Token counters. Where the provider counts them, also `cache_read_tokens` and `cache_write_tokens`, part of the input, `reasoning_tokens`, part of the output, and its own. Where it does not count, Lanefold estimates: `estimated_tokens` says how many of the total are estimates. */
    Usage: {
      /** @description Tokens sent. */
      input_tokens: number;
      /** @description Tokens received. */
      output_tokens: number;
      /** @description Their sum. */
      total_tokens: number;
    } & {
      [key: string]: number;
    };
    /** @description How the context is cut before a model call: a preset, or fields. */
    ContextPolicy:
      | ('window' | 'short_context' | 'long_context' | 'tool_focused')
      | {
          /** @description Tokens of request and answer together. Default: the window of the model, or no limit if that is unknown; `window` rejects a model whose window is unknown; null: no limit. */
          max_input_tokens?: number | 'window' | null;
          /** @description Left for the answer. Default: 2,000, at most a third of the limit; of a window, `max_output_tokens` of the settings, or else an eighth, at most 32,000. */
          reserve_output_tokens?: number;
          /** @description Maximum messages besides the system prompt; 0: no limit. */
          max_messages?: number;
          /** @description Newest turns to keep whole, even over budget; default 3. */
          keep_last_turns?: number;
          /**
           * @description `use_existing` (default) sends the summary of a compaction, `none` leaves it out, `request_new` also makes one: a run over budget compacts its lane.
           * @enum {string}
           */
          summarization?: 'none' | 'use_existing' | 'request_new';
          /** @description Share of the budget at which a run requests a compaction of its lane when it ends; default: none. */
          compact_at?: number;
          /** @enum {string} */
          summary_role?: 'system' | 'user';
          include_kinds?: ('message' | 'tool_call' | 'tool_result' | 'summary')[];
          system_prompt?: string;
          /** @description `heuristic`, `calibrated` (default), `exact`, or the name of a custom estimator of the server. */
          token_estimator?: string;
          projector?: string;
        };
    /** @description Settings of model calls, named as in the AI SDK. A model ignores those it does not support. */
    Settings: {
      max_output_tokens?: number;
      temperature?: number;
      top_p?: number;
      top_k?: number;
      presence_penalty?: number;
      frequency_penalty?: number;
      seed?: number;
      stop_sequences?: string[];
      /** @enum {string} */
      reasoning?: 'provider-default' | 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
      /** @description Keyed by provider: `{"openai": {…}}`; passed on unchanged. */
      provider_options?: JsonObject;
      /** @description HTTP headers of the model calls. */
      headers?: {
        [key: string]: string;
      };
    };
    BatchRun: {
      agent: string;
      input: components['schemas']['Content'];
      /** @description The lane; default: the thread’s active lane. */
      context_ref?: components['schemas']['Id'];
      /** @description A second request with this id returns the same run. You can send the id as `Idempotency-Key` instead. */
      request_id?: components['schemas']['Id'];
      /**
       * @description If the thread has an active run: `reject` (default) fails with 409 `thread_busy`, `wait` queues behind it, `interrupt` cancels it and goes first, which also needs the scope `steer`.
       * @enum {string}
       */
      busy?: 'reject' | 'wait' | 'interrupt';
      /** @description No worker starts the run before this delay. Meanwhile, the run keeps its thread busy. */
      delay_ms?: number;
      /** @description The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay. */
      ttl_ms?: number;
      /** @description Stored in the refs of the user message. */
      extra_refs?: JsonObject;
      /** @description Create the thread if it does not exist. */
      create_thread?: boolean;
      /** @description The version of the agent: a label or an id. Default: what its rollout chooses. */
      version?: string;
      /** @description Overrides the model of the agent, with those that stand in for it. */
      model?: string | string[] | components['schemas']['ModelFallback'];
      /** @description Overrides the strategy of the agent. */
      strategy?: string;
      /** @description Options of the strategy, merged over the agent’s if it has the same strategy. */
      strategy_options?: JsonObject;
      /** @description Names of the tools to use instead of the tools of agent and thread. */
      tools?: string[];
      /** @description Restricts the available tools to these; an empty array allows none. */
      allowed_tools?: string[];
      /** @description Merged over the tool context of agent and thread. */
      tool_context?: JsonObject;
      /** @description Overrides the settings of the agent, key by key. */
      settings?: components['schemas']['Settings'];
      /** @description HTTP headers of the model calls, merged with those in the settings. Stored with the run. */
      headers?: {
        [key: string]: string;
      };
      /** @description Name of the request transformer to use instead of the agent’s. */
      request_transformer?: string;
      /** @description Replaces the context policy of agent and thread. */
      context_policy?: components['schemas']['ContextPolicy'];
      /** @description Maximum number of iterations. */
      max_iterations?: number;
      /** @description Tokens of input and output after which the run ends with the best result it has. */
      max_total_tokens?: number;
      /** @description What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost more than is left. */
      max_cost?: number;
      /** @description Time after its start at which the run ends with the best result it has. */
      max_duration_ms?: number;
      /** @description Whether the model streams its answer. */
      streaming?: boolean;
      /** @description How long a model may stay silent before the run fails; 0: the tool timeout + 60,000. */
      idle_timeout_ms?: number;
      output?: components['schemas']['OutputContract'];
      /** @description Time limit of one tool attempt. */
      tool_timeout_ms?: number;
      /** @description Priority of the job: 0 (default) goes first, then lower numbers before higher ones. */
      priority?: number;
      /** @description Values that limits may apply to, by dimension. */
      limit_keys?: {
        [key: string]: string;
      };
      /**
       * @description rewind: after a failure, the lane goes back to its state before the run.
       * @enum {string}
       */
      on_failure?: 'keep' | 'rewind';
      /** @description Default: a new thread. */
      thread_id?: components['schemas']['Id'];
    };
    Content: string | components['schemas']['ContentPart'][];
    /** @description `{type: "text", text}` or `{type: "file", media_type, data | url}`; `data` is base64. OpenAI’s `image_url` and `file` parts and the AI SDK’s `image` and `file` parts are accepted and stored as `file`. */
    ContentPart: JsonObject;
    /** @description Models of which each stands in for those before it. */
    ModelFallback: {
      /** @description The models, in the order in which they are tried. */
      try: string[];
      /** @description The failures of the first model after which the next one is asked; default: all but `limit`. */
      on?: ('overloaded' | 'rate_limited' | 'timeout' | 'auth' | 'context_too_long' | 'limit')[];
      /** @description How long a streamed answer may take to begin. */
      first_token_ms?: number;
      /** @description How long one attempt at one model may take. */
      attempt_ms?: number;
      /** @description Which model the next call begins with: `run` (default), in this run the one that answered last; `thread`, also in later runs of the lane; false, the first. */
      sticky?: ('run' | 'thread') | false;
    };
    /** @description Requires the answer to be a JSON object, which becomes the result. `raw`: text. */
    OutputContract:
      | 'raw'
      | {
          /** @enum {string} */
          mode: 'raw';
        }
      | {
          /** @description The JSON Schema of an object with properties. */
          schema: JsonObject;
          name?: string;
          description?: string;
          /**
           * @description What to do with an answer that violates the contract; default `repair`.
           * @enum {string}
           */
          mode?: 'repair' | 'error';
          /** @description Maximum repairs of the answer; default 1. Values above 3 count as 3. */
          max_repairs?: number;
        };
    /** @description An error in the format of RFC 9457. */
    Problem: {
      /** @description `urn:lanefold:<code>` */
      type: string;
      title: string;
      status: number;
      /**
       * @description Stable identifier, for programs.
       * @enum {string}
       */
      code:
        | 'invalid_id'
        | 'invalid_input'
        | 'empty_content'
        | 'not_a_transaction'
        | 'invalid_text'
        | 'reserved_kind'
        | 'invalid_json'
        | 'invalid_request'
        | 'unsupported_media_type'
        | 'body_too_large'
        | 'resource_too_large'
        | 'body_timeout'
        | 'body_incomplete'
        | 'unknown_agent'
        | 'unknown_version'
        | 'unknown_model'
        | 'unknown_tool'
        | 'missing_provider_key'
        | 'invalid_agent'
        | 'invalid_tool'
        | 'invalid_scorer'
        | 'invalid_request_transformer'
        | 'invalid_output'
        | 'invalid_policy'
        | 'unknown_window'
        | 'invalid_projection'
        | 'validation_timeout'
        | 'unknown_strategy'
        | 'invalid_strategy_options'
        | 'invalid_strategy'
        | 'invalid_operation'
        | 'open_tool_group'
        | 'import_refused'
        | 'distributed_database'
        | 'idempotency_mismatch'
        | 'missing_token_secret'
        | 'invalid_token_prefix'
        | 'invalid_token_format'
        | 'invalid_base64'
        | 'invalid_token_signature'
        | 'invalid_token_payload'
        | 'token_version_mismatch'
        | 'invalid_token_issuer'
        | 'token_expired'
        | 'invalid_event_token'
        | 'token_config_mismatch'
        | 'invalid_token_state'
        | 'missing_field'
        | 'invalid_status'
        | 'invalid_context'
        | 'invalid_checkpoint_state'
        | 'unauthorized'
        | 'forbidden'
        | 'forbidden_host'
        | 'forbidden_origin'
        | 'override_not_allowed'
        | 'not_found'
        | 'method_not_allowed'
        | 'thread_not_found'
        | 'run_not_found'
        | 'key_not_found'
        | 'limit_not_found'
        | 'rollout_not_found'
        | 'schedule_not_found'
        | 'webhook_not_found'
        | 'monitor_not_found'
        | 'alarm_not_found'
        | 'circuit_not_found'
        | 'case_not_found'
        | 'dataset_empty'
        | 'eval_not_found'
        | 'eval_running'
        | 'eval_ended'
        | 'case_exists'
        | 'case_erased'
        | 'case_unverified'
        | 'delivery_not_found'
        | 'call_not_found'
        | 'content_not_found'
        | 'tool_call_not_found'
        | 'interrupt_not_found'
        | 'stream_not_found'
        | 'stream_deleted'
        | 'stream_exists'
        | 'stream_closed'
        | 'stream_type_mismatch'
        | 'stream_conflict'
        | 'stale_producer'
        | 'thread_exists'
        | 'thread_erased'
        | 'thread_busy'
        | 'lane_busy'
        | 'rev_conflict'
        | 'session_changed'
        | 'no_active_run'
        | 'interrupt_ended'
        | 'interrupts_open'
        | 'other_run_active'
        | 'run_ending'
        | 'not_steerable'
        | 'queue_full'
        | 'input_too_large'
        | 'context_too_large'
        | 'token_stale'
        | 'run_active'
        | 'strategy_changed'
        | 'lease_lost'
        | 'step_ahead'
        | 'append_only'
        | 'already_decided'
        | 'not_awaiting_approval'
        | 'budget_exhausted'
        | 'limit_too_small'
        | 'price_unknown'
        | 'rate_limited'
        | 'database_unreachable'
        | 'database_busy'
        | 'database_full'
        | 'database_timeout'
        | 'database_error'
        | 'thread_locked'
        | 'prepared_statement_lost'
        | 'database_outdated'
        | 'database_too_new'
        | 'tenants_not_enforced'
        | 'role_unfit'
        | 'log_replaced'
        | 'lanefold_closed'
        | 'queue_unreachable'
        | 'embedded_postgres_failed'
        | 'not_ready'
        | 'server_busy'
        | 'missing_api_key'
        | 'telemetry_unavailable'
        | 'port_taken'
        | 'listen_failed'
        | 'wait_timeout'
        | 'history_unreadable'
        | 'internal';
      /** @description What happened, for humans. */
      detail: string;
      /** @description What to do. */
      hint?: string;
      /** @description The invalid fields. */
      errors?: {
        path: string;
        message: string;
      }[];
    };
    /** @description `RunAgentInput` of AG-UI 1.0, with its field names. Of `messages`, a new user message at the end is asked, and tool messages answer the tools that the client runs. */
    RunAgentInput: {
      threadId: string;
      runId: string;
      parentRunId?: string;
      protocolVersion?: string;
      messages: (
        | ({
            id: string;
            /** @enum {string} */
            role: 'user';
            content:
              | (
                  | ({
                      /** @enum {string} */
                      type: 'text';
                      text: string;
                    } & {
                      [key: string]: unknown;
                    })
                  | ({
                      /** @enum {string} */
                      type: 'image';
                      source:
                        | ({
                            /** @enum {string} */
                            type: 'data';
                            value: string;
                            mimeType: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'url';
                            value: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'file';
                            value: string;
                            provider?: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          });
                    } & {
                      [key: string]: unknown;
                    })
                  | ({
                      /** @enum {string} */
                      type: 'audio';
                      source:
                        | ({
                            /** @enum {string} */
                            type: 'data';
                            value: string;
                            mimeType: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'url';
                            value: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'file';
                            value: string;
                            provider?: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          });
                    } & {
                      [key: string]: unknown;
                    })
                  | ({
                      /** @enum {string} */
                      type: 'video';
                      source:
                        | ({
                            /** @enum {string} */
                            type: 'data';
                            value: string;
                            mimeType: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'url';
                            value: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'file';
                            value: string;
                            provider?: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          });
                    } & {
                      [key: string]: unknown;
                    })
                  | ({
                      /** @enum {string} */
                      type: 'document';
                      source:
                        | ({
                            /** @enum {string} */
                            type: 'data';
                            value: string;
                            mimeType: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'url';
                            value: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'file';
                            value: string;
                            provider?: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          });
                    } & {
                      [key: string]: unknown;
                    })
                )[]
              | string;
            name?: string;
            metadata?: {
              [key: string]: unknown;
            };
          } & {
            [key: string]: unknown;
          })
        | ({
            id: string;
            /** @enum {string} */
            role: 'assistant';
            content?: string;
            toolCalls?: ({
              id: string;
              /** @enum {string} */
              type: 'function';
              function: {
                name: string;
                arguments: string;
              } & {
                [key: string]: unknown;
              };
            } & {
              [key: string]: unknown;
            })[];
            name?: string;
            metadata?: {
              [key: string]: unknown;
            };
          } & {
            [key: string]: unknown;
          })
        | ({
            id: string;
            /** @enum {string} */
            role: 'tool';
            toolCallId: string;
            content:
              | (
                  | ({
                      /** @enum {string} */
                      type: 'text';
                      text: string;
                    } & {
                      [key: string]: unknown;
                    })
                  | ({
                      /** @enum {string} */
                      type: 'image';
                      source:
                        | ({
                            /** @enum {string} */
                            type: 'data';
                            value: string;
                            mimeType: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'url';
                            value: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'file';
                            value: string;
                            provider?: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          });
                    } & {
                      [key: string]: unknown;
                    })
                  | ({
                      /** @enum {string} */
                      type: 'audio';
                      source:
                        | ({
                            /** @enum {string} */
                            type: 'data';
                            value: string;
                            mimeType: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'url';
                            value: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'file';
                            value: string;
                            provider?: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          });
                    } & {
                      [key: string]: unknown;
                    })
                  | ({
                      /** @enum {string} */
                      type: 'video';
                      source:
                        | ({
                            /** @enum {string} */
                            type: 'data';
                            value: string;
                            mimeType: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'url';
                            value: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'file';
                            value: string;
                            provider?: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          });
                    } & {
                      [key: string]: unknown;
                    })
                  | ({
                      /** @enum {string} */
                      type: 'document';
                      source:
                        | ({
                            /** @enum {string} */
                            type: 'data';
                            value: string;
                            mimeType: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'url';
                            value: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          })
                        | ({
                            /** @enum {string} */
                            type: 'file';
                            value: string;
                            provider?: string;
                            mimeType?: string;
                          } & {
                            [key: string]: unknown;
                          });
                    } & {
                      [key: string]: unknown;
                    })
                )[]
              | string;
            error?: string;
          } & {
            [key: string]: unknown;
          })
        | ({
            id: string;
            /** @enum {string} */
            role: 'reasoning';
            content: string;
          } & {
            [key: string]: unknown;
          })
        | ({
            id: string;
            /** @enum {string} */
            role: 'system';
            content: string;
            name?: string;
            metadata?: {
              [key: string]: unknown;
            };
          } & {
            [key: string]: unknown;
          })
        | ({
            id: string;
            /** @enum {string} */
            role: 'developer';
            content: string;
            name?: string;
            metadata?: {
              [key: string]: unknown;
            };
          } & {
            [key: string]: unknown;
          })
        | ({
            id: string;
            /** @enum {string} */
            role: 'activity';
            activityType: string;
            content: {
              [key: string]: unknown;
            };
          } & {
            [key: string]: unknown;
          })
      )[];
      /** @default [] */
      tools: ({
        name: string;
        description: string;
        parameters?: Json;
      } & {
        [key: string]: unknown;
      })[];
      /** @default [] */
      context: ({
        description: string;
        value: string;
      } & {
        [key: string]: unknown;
      })[];
      state?: Json;
      forwardedProps?: Json;
      resume?: ({
        interruptId: string;
        /** @enum {string} */
        status: 'resolved' | 'cancelled';
        payload?: Json;
      } & {
        [key: string]: unknown;
      })[];
    } & {
      [key: string]: unknown;
    };
    /**
     * Format: binary
     * @description Data of any type.
     */
    StreamData: string;
    AgentList: {
      data: components['schemas']['Agent'][];
    };
    /** @description An agent, as this server defines it. */
    Agent: {
      name: string;
      /** @description What the agent is for; null without a description. */
      description: string | null;
      /** @description The labels of its versions, beginning with the version that serves by default. */
      labels: string[];
      model: string;
      strategy: string;
      /** @description The system prompt for lanes that set none. */
      instructions: string | null;
      /** @description Maximum iterations of a run. */
      max_iterations: number;
      tools: components['schemas']['AgentTool'][];
      /** @description null: its results are text, or what its strategy returns. */
      output_schema: JsonObject | null;
    };
    AgentTool: {
      name: string;
      description: string | null;
      /** @description JSON Schema. */
      input_schema: JsonObject;
      needs_approval: boolean;
    };
    AgentVersionList: {
      data: components['schemas']['AgentVersion'][];
    };
    /** @description A version of an agent, with counts, duration and cost of its runs. */
    AgentVersion: {
      agent: string;
      /** @description Hash of its definition. */
      id: string;
      /** @description The label under which a worker last started with this version. */
      label: string | null;
      /** @description Prompt, model, settings, tools, strategy, policy, output contract and limits. */
      definition: JsonObject;
      /**
       * Format: date-time
       * @description When a worker first started with it.
       */
      first_at: string;
      /**
       * Format: date-time
       * @description When a worker last started with it.
       */
      last_at: string;
      /**
       * Format: date-time
       * @description Runs count if they were accepted after this time. At most the newest 10,000 runs of all agents are looked at.
       */
      since: string;
      /** @description Runs that were accepted within `hours`, and not before `since`. */
      runs: number;
      completed: number;
      failed: number;
      /** @description The mean time from start to end of the ended runs. */
      mean_duration_ms: number | null;
      input_tokens: number;
      output_tokens: number;
      /** @description In US dollars; null if no price is known. */
      cost: number | null;
      /** @description Tokens of models without a known price. */
      unpriced_tokens: number;
    };
    AgentVersionDiff: {
      data: {
        path: string;
        /** @description Absent: it was added. */
        from?: Json;
        /** @description Absent: it was removed. */
        to?: Json;
      }[];
    };
    RolloutList: {
      data: components['schemas']['Rollout'][];
    };
    /** @description Which versions of an agent serve its threads. */
    Rollout: {
      agent: string;
      /** @description Shares by label, relative to their sum. A version with 0 gets no new threads. */
      shares: {
        [key: string]: number;
      };
      /** @description The limit key whose value is hashed, so that all threads of a customer get one version; null: the thread. */
      key: string | null;
      /** @description Labels with a share that no worker has had. */
      unknown: string[];
      /**
       * Format: date-time
       * @description When it was last set.
       */
      updated_at: string;
      /** @description `operator`, `key:<id>` or `cli:<user>`. */
      updated_by: string;
    };
    NewRollout: {
      /** @description Shares by label, relative to their sum. A version with 0 gets no new threads. */
      shares: {
        [key: string]: number;
      };
      /** @description The limit key whose value is hashed, so that all threads of a customer get one version; null: the thread. */
      key?: string | null;
    };
    MovedThread: {
      thread_id: components['schemas']['Id'];
      /** @description A label; null: the rollout chooses again. */
      version: string | null;
    };
    AlarmList: {
      data: components['schemas']['Alarm'][];
    };
    Alarm: {
      name: components['schemas']['Id'];
      /** @description The tenant whose runs it counts. */
      tenant: components['schemas']['Id'];
      filter: components['schemas']['AlarmFilter'];
      /** @description The alarm is raised when more runs than this match. */
      more_than: number;
      share: number | null;
      /** @description Runs that were accepted within this time count, in ms. */
      within_ms: number;
      /** @description How long no more than that must match before the alarm is cleared, in ms. */
      clear_after_ms: number;
      raised_at: string | null;
      runs: number | null;
      all_runs: number | null;
      counted_at: string | null;
      paused_at: string | null;
      /**
       * Format: date-time
       * @description When it was first set.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      updated_at: string;
      /** @description `operator`, `key:<id>` or `cli:<user>`. */
      updated_by: string;
    };
    /** @description The runs that count. */
    AlarmFilter: {
      status?: components['schemas']['RunStatus'];
      /** @description Runs of this agent. */
      agent?: string;
      /** @description Runs that this version of their agent took: `agentVersion`. */
      version?: string;
      /**
       * @description A run with this mark.
       * @enum {string}
       */
      mark?:
        | 'failed'
        | 'ended_early'
        | 'abandoned'
        | 'tool_failed'
        | 'arguments_refused'
        | 'tool_retried'
        | 'model_retried'
        | 'model_fell_back'
        | 'worker_lost'
        | 'cut'
        | 'over_budget'
        | 'cache_missed'
        | 'handoffs_looped'
        | 'model_overridden'
        | 'liked'
        | 'disliked'
        | 'steered'
        | 'steer_dropped'
        | 'prompt_changed'
        | 'context_replaced'
        | 'compacted';
      /**
       * @description A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
       * @enum {string}
       */
      waiting_for?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
      /** @description Runs of threads whose metadata contains this JSON object. */
      metadata?: JsonObject;
      /** @description Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
      text?: string;
      /** @description False: runs that ended without an answer. */
      answered?: boolean;
      /** @description False: only runs that no tool call has started. */
      children?: boolean;
      /** @description Runs with this model. */
      model?: string;
      /** @description Failed runs with this error type. */
      error_type?: string;
      /** @description Runs that spent at least this many tokens. */
      min_tokens?: number;
    };
    NewAlarm: {
      filter: components['schemas']['AlarmFilter'];
      /** @description The alarm is raised when more runs than this match. */
      more_than?: number;
      /** @description And when they are more than this share of all runs of the agent, version, model and threads of the filter. */
      share?: number;
      /** @description Runs that were accepted within this time count, in ms. */
      within_ms?: number;
      /** @description How long no more than that must match before the alarm is cleared, in ms. */
      clear_after_ms?: number;
    };
    AlarmCountList: {
      data: components['schemas']['AlarmCount'][];
    };
    AlarmCount: {
      /**
       * Format: date-time
       * @description When the five minutes began.
       */
      at: string;
      /** @description The highest count of runs that matched. */
      runs: number;
      all_runs: number | null;
      /** @description Whether too many runs matched. */
      raised: boolean;
    };
    ApprovalPage: {
      data: components['schemas']['Approval'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    /** @description A tool call that waits for human approval. */
    Approval: {
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      agent: string;
      /** @description The name of the call: its round and index. */
      call: string;
      /** @description Tool round of the run, from 1. */
      round: number;
      /** @description Position in the round, from 0. */
      index: number;
      name: string;
      /** @description Arguments from the model. */
      arguments: Json;
      /**
       * Format: date-time
       * @description When the call began to wait.
       */
      requested_at: string;
      /**
       * Format: date-time
       * @description When the call is denied if it is still undecided.
       */
      expires_at: string;
      /** @description The root of its tree, if a tool call of another run started its run. */
      root: components['schemas']['RunRef'] | null;
    };
    /** @description A run by its thread and id. */
    RunRef: {
      thread_id: components['schemas']['Id'];
      id: string;
    };
    AuditPage: {
      data: components['schemas']['AuditEntry'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    AuditEntry: {
      /** @description Number of the row, ascending. */
      no: number;
      /**
       * Format: date-time
       * @description When the action was requested.
       */
      at: string;
      tenant_id: components['schemas']['Id'] | null;
      /** @description `operator`, `key:<id>`, `token:<id of the key>` or `cli:<user>`. */
      actor: string;
      action: string;
      thread_id: components['schemas']['Id'] | null;
      run_id: components['schemas']['Id'] | null;
      detail: {
        [key: string]: unknown;
      };
    };
    Case: {
      id: components['schemas']['Id'];
      tenant: components['schemas']['Id'];
      thread_id: components['schemas']['Id'];
      /** @description The name that its cases share. */
      dataset: components['schemas']['Id'];
      /**
       * @description `run`: the question of the run is asked again. `call`: the model is asked once more for the answer of the call, with the same context.
       * @enum {string}
       */
      kind: 'run' | 'call';
      /** @description Null for an imported case. */
      run_id: components['schemas']['Id'] | null;
      /** @description The model call; for a run, its first model call. Null for an imported case. */
      llm_call_id: components['schemas']['Id'] | null;
      context_ref: components['schemas']['Id'];
      /** @description The last entry of the context before the question or the answer; -1: none. */
      seq: number;
      /** @description SHA-256 of the messages of the call. */
      context_hash: string;
      /** @description The first 200 characters of the message that began its run, read from the log; of an imported case, of the last message of the user. Null if there is none, and once the thread is erased. */
      question: string | null;
      agent: string;
      model: string;
      tags: string[];
      split: string | null;
      expected: components['schemas']['ExpectedAnswer'] | null;
      note: string | null;
      /** @description `operator`, `key:<id>` or `cli:<user>`. */
      kept_by: string;
      /**
       * Format: date-time
       * @description When it was kept.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      updated_at: string;
      erased_at: string | null;
    };
    ExpectedAnswer: {
      /** @description The whole answer; white space does not count. */
      answer?: string;
      /** @description Phrases that the answer has to contain. */
      contains?: string[];
      /** @description A tool that the answer has to call. */
      tool?: {
        name: string;
        /** @description A part of its arguments. */
        arguments?: JsonObject;
      };
      /** @description What a judge looks at. */
      rubric?: string;
      /** @description The name of the only scorer that applies. */
      scorer?: string;
    };
    NewCase: {
      thread_id: components['schemas']['Id'];
      /** @description The name that its cases share. */
      dataset: components['schemas']['Id'];
      /** @description The run whose question is asked again. Either this or `llm_call_id`. */
      run_id?: components['schemas']['Id'];
      /** @description The model call that is made again. */
      llm_call_id?: components['schemas']['Id'];
      expected?: components['schemas']['ExpectedAnswer'];
      tags?: string[];
      /** @description A part of the dataset, such as `train` or `test`. */
      split?: string;
      note?: string;
    };
    BulkReceipt: {
      dry_run: boolean;
      /**
       * Format: date-time
       * @description The moment of the preview: pass it in the filter of the act.
       */
      created_before: string;
      /** @description How many of the selected runs the act concerns; counted up to 10,000. */
      matched: number;
      /** @description What became of each run; in a preview, the first few. */
      runs: {
        thread_id: components['schemas']['Id'];
        id: string;
        agent: string;
        /** @description The status in which the run was found. */
        status: components['schemas']['RunStatus'];
        /**
         * Format: date-time
         * @description When the run was accepted.
         */
        created_at: string;
        /** @description `unchanged`: it was done before, or there was nothing to do. Null in a preview. */
        outcome: ('done' | 'unchanged' | 'refused') | null;
        /** @description The run that repeats it. */
        started?: components['schemas']['Id'];
        /** @description The case that it is kept as. */
        case_id?: components['schemas']['Id'];
        /** @description Why it was refused: the error that the act on it alone would have had. */
        error?: {
          code: string;
          message: string;
        };
      }[];
      /** @description How many runs are left to act on; counted up to 10,000. */
      left: number;
      /** @description Pass it as `after` to act on the runs that are left; null: none are. */
      next_after: string | null;
    };
    KeepRuns: {
      /** @description The runs: the filter of the list. An act needs `created_before`, the moment of its preview: it takes the runs that were accepted before. */
      filter: {
        status?: components['schemas']['RunStatus'];
        /** @description Runs of this agent. */
        agent?: string;
        /** @description Runs that this version of their agent took: `agentVersion`. */
        version?: string;
        /**
         * @description A run with this mark.
         * @enum {string}
         */
        mark?:
          | 'failed'
          | 'ended_early'
          | 'abandoned'
          | 'tool_failed'
          | 'arguments_refused'
          | 'tool_retried'
          | 'model_retried'
          | 'model_fell_back'
          | 'worker_lost'
          | 'cut'
          | 'over_budget'
          | 'cache_missed'
          | 'handoffs_looped'
          | 'model_overridden'
          | 'liked'
          | 'disliked'
          | 'steered'
          | 'steer_dropped'
          | 'prompt_changed'
          | 'context_replaced'
          | 'compacted';
        /**
         * @description A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
         * @enum {string}
         */
        waiting_for?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
        /** @description Runs of threads of this tenant. */
        tenant_id?: components['schemas']['Id'];
        /** @description Runs of threads whose metadata contains this JSON object. */
        metadata?: JsonObject;
        /** @description Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
        text?: string;
        /** @description False: runs that ended without an answer. */
        answered?: boolean;
        /** @description False: only runs that no tool call has started. */
        children?: boolean;
        /** @description Runs with this model. */
        model?: string;
        /** @description Failed runs with this error type. */
        error_type?: string;
        /** @description Runs that spent at least this many tokens. */
        min_tokens?: number;
        /**
         * Format: date-time
         * @description Runs accepted at this time or later.
         */
        created_after?: string;
        /**
         * Format: date-time
         * @description Runs accepted before this time.
         */
        created_before?: string;
      };
      /** @description A preview: counts the runs, shows the first few, and changes nothing. */
      dry_run?: boolean;
      /** @description Maximum number of runs to act on; default 100. */
      limit?: number;
      /** @description The `next_after` of the previous page. */
      after?: string;
      /** @description The name that its cases share. */
      dataset: components['schemas']['Id'];
      tags?: string[];
      /** @description A part of the dataset, such as `train` or `test`. */
      split?: string;
      note?: string;
    };
    CaseList: {
      data: components['schemas']['Case'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    CaseChanges: {
      expected?: components['schemas']['ExpectedAnswer'] | null;
      tags?: string[];
      split?: string | null;
      note?: string | null;
    };
    DatasetList: {
      data: components['schemas']['Dataset'][];
    };
    Dataset: {
      tenant: components['schemas']['Id'];
      dataset: components['schemas']['Id'];
      /** @description How many cases it has. */
      cases: number;
      /** @description How many of these cases have an erased thread. */
      erased: number;
      /**
       * Format: date-time
       * @description When a case last changed.
       */
      updated_at: string;
    };
    CircuitList: {
      data: components['schemas']['Circuit'][];
    };
    Circuit: {
      /** @description The model, as `provider:model`. */
      model: string;
      /**
       * @description `closed`: calls are made; `open`: they are held back; `half_open`: one of them probes.
       * @enum {string}
       */
      state: 'closed' | 'open' | 'half_open';
      /** @description Calls of the window that were answered or say that the provider fails. */
      calls: number;
      /** @description Calls of the window that say that the provider fails. */
      failed: number;
      reason: string | null;
      opened_at: string | null;
      open_until: string | null;
      opened_by: string | null;
      /**
       * Format: date-time
       * @description When a worker last counted, or when it last changed.
       */
      updated_at: string;
    };
    CircuitOpening: {
      /** @description Why, for the audit and for people who ask why runs wait. */
      reason: string;
      /**
       * Format: date-time
       * @description When a call may probe; default: not before it is closed by hand.
       */
      until?: string;
    };
    LaneList: {
      data: components['schemas']['Lane'][];
    };
    /** @description A named context of a thread. */
    Lane: {
      context_ref: components['schemas']['Id'];
      /** @description `seq` of the anchor, the latest replace operation; -1: none. */
      anchor_seq: number;
      /** @description `seq` of the last entry of the lane. */
      last_seq: number;
      /** @description Number of tool calls of the last message that have no result yet. */
      open_calls: number;
    };
    /** @description What the model sees on a lane: the system prompt, the messages of the anchor, and those after it. */
    Context: {
      thread_id: components['schemas']['Id'];
      context_ref: components['schemas']['Id'];
      /** @description The entry as of which the context is shown; null: now. */
      at_seq: number | null;
      messages: components['schemas']['ContextMessage'][];
      /** @description With `policy` or `explain`: the policy applied, with its defaults filled in. */
      policy?: JsonObject;
      meta?: components['schemas']['ProjectionMeta'];
      explain?: components['schemas']['ExplainedMessage'][];
    };
    /** @description A row of the view `lane_context`. */
    ContextMessage: {
      /** @description Position in the context, from 0. */
      ordinal: number;
      /** @description The entry it comes from. */
      seq: number;
      /** @description `seq` of the anchor of the lane; -1: none. */
      anchor_seq: number;
      role: components['schemas']['Role'];
      content: components['schemas']['Content'];
      tool_calls: components['schemas']['ToolCall'][] | null;
      tool_call_id: string | null;
      name: string | null;
      thinking: string | null;
      /** @description Reasoning data of the provider. */
      reasoning_details: Json;
      /** @description Metadata of the provider. */
      provider_metadata: Json;
      run_id: string | null;
      request_id: string | null;
      /** @description Provenance. */
      refs: Json;
    };
    /** @enum {string} */
    Role: 'system' | 'user' | 'assistant' | 'tool';
    ToolCall: {
      id: string;
      name: string;
      /** @description Any JSON. */
      arguments?: Json;
      /** @description The provider’s original string, byte for byte. */
      arguments_raw?: string;
      /** @description Metadata of the provider. */
      provider_metadata?: JsonObject;
    };
    /** @description The result of applying a policy to a context. */
    ProjectionMeta: {
      /** @description Tokens of the messages, including the system prompt. */
      estimated_tokens: number;
      /** @description Tokens of the tools offered; 0 if this server does not know the agent. */
      tool_tokens: number;
      /** @description Maximum tokens of the request; null: no limit. */
      budget: number | null;
      /** @description The context window of the model; null: unknown. */
      window: number | null;
      /** @description Whether the budget or `max_messages` left messages out. */
      truncated: boolean;
      /** @description Messages sent, without the system prompt. */
      entries_included: number;
      /** @description Messages of the lane, without the system prompt. */
      entries_total: number;
      summary_used: boolean;
      /** @description Whether the messages that must be kept exceed the budget. */
      over_budget: boolean;
      estimator: {
        name: string;
        /** @description The factor by which the heuristic is multiplied. */
        ratio: number;
        /** @description Mean error of `calibrated`, as a share. */
        error: number | null;
        /** @description Number of model calls of this process that `calibrated` has learnt from. */
        calls: number | null;
        /** @description Why the heuristic was used instead. */
        fallback: string | null;
      };
    };
    /** @description Why a message is sent or left out, and its tokens. */
    ExplainedMessage: {
      /** @description Position in the context before the policy, from 0. */
      ordinal: number;
      /** @description The entry of the message; -1 for the prompt of a policy. */
      seq: number;
      role: string;
      /** @enum {string} */
      kind: 'system' | 'summary' | 'message' | 'tool_group';
      /** @description Tokens of the message. */
      tokens: number;
      included: boolean;
      /** @description Sent: system_prompt, summary, durable, last_turns, question, fits, projector. Left out: kind, summarization, cut_before, budget, max_messages, before_question, not_chosen. */
      reason: string;
      /** @description The message itself, if it is left out. */
      message?: JsonObject;
    };
    /** @description The run was accepted and will end, even if processes crash. */
    RunReceipt: {
      thread_id: components['schemas']['Id'];
      id: string;
      request_id: string;
      status: components['schemas']['RunStatus'];
      duplicate: boolean;
    };
    Compact: {
      /** @description The lane; default: the active lane. */
      context_ref?: components['schemas']['Id'];
      /** @description Entries to summarise, inclusive. Default: all but the newest turns. */
      range?: {
        from_seq: number;
        to_seq: number;
      };
      /** @description How many of the newest turns to keep; default: `keep_last_turns` of the context policy. */
      keep_turns?: number;
      /** @description Default: the agent of the lane’s latest run. */
      agent?: string;
      /** @description Default: the model of the lane’s latest run. */
      model?: string;
    };
    /** @description One answered model call: exactly what was sent, and what came back. */
    ModelCall: {
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      llm_call_id: components['schemas']['Id'];
      context_ref: components['schemas']['Id'];
      agent: string;
      model: string;
      /** @description Size of the model’s context window in tokens; null: unknown. */
      window: number | null;
      /** @description Iteration of the run, from 1. */
      iteration: number;
      /** @description The entry of the answer. */
      seq: number;
      /** @description The messages as they were sent, in canonical form. */
      messages: components['schemas']['SentMessage'][];
      /** @description For each message, the `seq` of its entry; null for instructions that are never stored. */
      sources: (number | null)[];
      /** @description The hash that the worker recorded when it sent the messages: SHA-256, in hex, of the canonical JSON (RFC 8785) of each, followed by a newline. */
      context_hash: string;
      /** @description Whether the messages have this hash: if so, they are byte for byte what was sent. */
      verified: boolean;
      /**
       * @description Why the messages do not have the hash: a request transformer changed them, this server does not know the output contract, or neither explains the mismatch; null if they have it.
       * @enum {string|null}
       */
      unverified_because: 'transformed' | 'output_contract' | 'mismatch' | null;
      /** @description The answer. */
      answer: JsonObject;
      /** @description Provenance of the answer. */
      refs: JsonObject;
      /** @description Null if the trace was deleted. */
      usage: components['schemas']['Usage'] | null;
      finish_reason: string | null;
      /**
       * Format: date-time
       * @description When the call started; null if the trace was deleted.
       */
      started_at: string | null;
      /**
       * Format: date-time
       * @description When the answer was committed.
       */
      completed_at: string;
      duration_ms: number | null;
      /** @description Failed or lost attempts before this answer. */
      failed_attempts: {
        kind: string;
        /**
         * Format: date-time
         * @description When the failure was committed.
         */
        at: string;
        /** @description Depends on the kind. */
        data: JsonObject;
      }[];
      /** @description The tools offered, as this server defines the agent; null if it does not know the agent. */
      tools: components['schemas']['Tool'][] | null;
      /** @description Where and why the messages stop matching the previous call on the lane; null if they begin with everything it sent, or if the log cannot tell. */
      prefix_break: {
        /** @description Position of the first message that differs, from 0. */
        position: number;
        /** @description The entry that caused it: the new prompt, the anchor, or the answer whose `refs` say what the policy left out. */
        seq: number;
        /** @enum {string} */
        cause: 'prompt' | 'anchor' | 'policy' | 'fallback';
      } | null;
      /** @description The previous call on the lane. */
      previous_call_id: components['schemas']['Id'] | null;
      /** @description The next call on the lane. */
      next_call_id: components['schemas']['Id'] | null;
    };
    /** @description A message as a model is sent it. */
    SentMessage: {
      role: components['schemas']['Role'];
      content: components['schemas']['Content'];
      tool_calls?: components['schemas']['ToolCall'][];
      tool_call_id?: string;
      name?: string;
      thinking?: string;
      reasoning_details?: Json;
      /** @description Metadata of the provider. */
      provider_metadata?: JsonObject;
    };
    Tool: {
      name: string;
      description: string | null;
      /** @description JSON Schema. */
      input_schema: JsonObject;
    };
    /** @description How a model answered a replayed call. It is not stored. */
    CallReplay: {
      thread_id: components['schemas']['Id'];
      llm_call_id: components['schemas']['Id'];
      model: string;
      /** @description Whether the messages, before any change, have the recorded hash. */
      verified: boolean;
      /** @description Number of messages sent, including the system prompt. */
      messages: number;
      answer: JsonObject | null;
      error: {
        type: string;
        message: string;
      } | null;
      /** @description Null if the call failed. */
      usage: components['schemas']['Usage'] | null;
      finish_reason: string | null;
      duration_ms: number;
    };
    ReplayRequest: {
      /** @description Default: the model of the call. */
      model?: string;
      /** @description Replaces the whole system message; null: none. Default: the one that was sent. */
      system_prompt?: string | null;
      /** @description Cuts the context of the lane as it was before the call, instead of the policy of the run. */
      context_policy?: components['schemas']['ContextPolicy'];
    };
    OperationReceipt: {
      op_id: components['schemas']['Id'];
      /**
       * @description deferred: a run is active; the operation is applied when it ends.
       * @enum {string}
       */
      status: 'applied' | 'deferred' | 'duplicate' | 'stale';
      /** @enum {string} */
      op_status: 'pending' | 'applied' | 'superseded' | 'stale';
      /** @description The entry of the operation, once applied. */
      seq: number | null;
    };
    ContextOperation: {
      /** @description An operation with this id is applied at most once per thread. You can send the id as `Idempotency-Key` instead. */
      op_id?: components['schemas']['Id'];
      /** @description The lane. Required for a switch; for a replace, default: the active lane. */
      context_ref?: components['schemas']['Id'];
      operation: components['schemas']['Replace'] | components['schemas']['Switch'];
      /** @description Apply only if the thread is at this `rev`; otherwise fail with `rev_conflict`. */
      expected_rev?: number;
      /** @description Add flagged error results for tool calls that have no result. */
      repair?: boolean;
    };
    /** @description Replaces the context of a lane. */
    Replace: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      type: 'replace';
      result_context: {
        /** @description Your own name for the context, kept in the log. */
        id?: components['schemas']['Id'];
        /** @description Absent: the lane keeps its system prompt. null: no system prompt. */
        system_prompt?: string | null;
        entries: components['schemas']['Message'][];
      };
      /** @enum {string} */
      reason?: 'manual' | 'restore' | 'compaction' | 'system';
      /** @description The entry the operation is based on; recorded only. */
      base_seq?: number;
      /** @description Your own data; recorded only. */
      meta?: JsonObject;
    };
    Message: {
      /** @enum {string} */
      role: 'user' | 'assistant' | 'tool';
      content: components['schemas']['Content'];
      tool_calls?: components['schemas']['ToolCall'][];
      tool_call_id?: string;
      name?: string;
      thinking?: string;
      reasoning_details?: Json;
      /** @description Metadata of the provider. */
      provider_metadata?: JsonObject;
    };
    /** @description Makes a lane the active one. */
    Switch: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      type: 'switch';
      /** @enum {string} */
      reason?: 'manual' | 'restore' | 'compaction' | 'system';
      /** @description The entry the operation is based on; recorded only. */
      base_seq?: number;
      /** @description Your own data; recorded only. */
      meta?: JsonObject;
    };
    LaneChange: {
      /** @description An operation with this id is applied at most once per thread. You can send the id as `Idempotency-Key` instead. */
      op_id?: components['schemas']['Id'];
      /** @enum {string} */
      reason?: 'manual' | 'restore' | 'compaction' | 'system';
      /** @description Your own data; recorded only. */
      meta?: JsonObject;
      /** @description Apply only if the thread is at this `rev`; otherwise fail with `rev_conflict`. */
      expected_rev?: number;
    };
    /** @description The messages of two contexts, in order. */
    ContextDiff: {
      data: {
        /**
         * @description removed: only in the first context; added: only in the second.
         * @enum {string}
         */
        change: 'same' | 'removed' | 'added';
        /** @description Position in the first context. */
        ordinal: number | null;
        /** @description Its entry in the first thread. */
        seq: number | null;
        /** @description Position in the second context. */
        other_ordinal: number | null;
        /** @description Its entry in the second thread. */
        other_seq: number | null;
        role: string;
        /** @description A string or an array of parts. */
        content: Json;
        /** @description An array or null. */
        tool_calls: Json;
        tool_call_id: string | null;
        name: string | null;
      }[];
    };
    /** @description An eval with its progress. `spec` is the request of the eval, with defaults filled in. */
    Eval: {
      id: components['schemas']['Id'];
      tenant: components['schemas']['Id'];
      dataset: components['schemas']['Id'];
      /** @enum {string} */
      status: 'running' | 'completed' | 'cancelled';
      spec: components['schemas']['NewEval'];
      items: {
        /** @description Items that are waiting. */
        waiting: number;
        /** @description Items that are running. */
        running: number;
        /** @description Items that are being scored. */
        scoring: number;
        /** @description Items that are done. */
        done: number;
        /** @description Items that are failed. */
        failed: number;
        /** @description Items that are skipped. */
        skipped: number;
        /** @description Items that are erased. */
        erased: number;
      };
      /** @description What waiting items need but no live worker has: `agent`, or `agent@version`. */
      unattended: string[];
      /** @description The cost in millionths of a US dollar, without models whose price is unknown. */
      cost_micros: number;
      /** @description `operator`, `key:<id>` or `cli:<user>`. */
      created_by: string;
      /**
       * Format: date-time
       * @description When it was started.
       */
      created_at: string;
      finished_at: string | null;
    };
    NewEval: {
      dataset: components['schemas']['Id'];
      /** @description Only cases with this tag. */
      tag?: string;
      /** @description Only cases of this part. */
      split?: string;
      /** @description Only these cases of the dataset. An id that is not among its cases is refused. */
      case_ids?: components['schemas']['Id'][];
      /** @description The variants to compare; the first variant is the baseline. Default: one variant, `current`, without changes. */
      variants?: components['schemas']['EvalVariant'][];
      /** @description How often each case is asked under each variant; default 1. */
      repeats?: number;
      /**
       * @description What tools return: what they did in the original run (`recorded`, default), what they return now if they are safe to run again (`live`), or what `stubs` has.
       * @enum {string}
       */
      tools?: 'recorded' | 'live' | 'stubs';
      /** @description What each tool returns, by its name. */
      stubs?: JsonObject;
      /** @description How many runs execute at once; default 4. */
      concurrency?: number;
      /** @description What all runs of the eval together may cost, in US dollars. */
      max_cost?: number;
      /** @description Time after its start at which the run ends with the best result it has. */
      max_duration_ms?: number;
      /** @description Priority of its runs; default 1,000. */
      priority?: number;
      /** @description Ask every case again, even if an earlier eval has an answer; default false. */
      fresh?: boolean;
      /** @description The agent that scores answers by `expected.rubric`. */
      judge?: {
        agent: string;
        /** @description Overrides the model of the agent, with those that stand in for it. */
        model?: string | string[] | components['schemas']['ModelFallback'];
      };
    };
    EvalVariant: {
      /** @description Default: a name made from the other fields. */
      name?: string;
      /** @description Default: the agent of the case. */
      agent?: string;
      /** @description The version of the agent: a label or an id. Default: what its rollout chooses. */
      version?: string;
      /** @description Overrides the model of the agent, with those that stand in for it. */
      model?: string | string[] | components['schemas']['ModelFallback'];
      /** @description Replaces the context policy of agent and thread. */
      context_policy?: components['schemas']['ContextPolicy'];
      /** @description Replaces the prompt of the lane; null: none. */
      system_prompt?: string | null;
    };
    EvalList: {
      data: components['schemas']['Eval'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    EvalItemList: {
      data: components['schemas']['EvalItem'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    EvalItem: {
      /** @description Place of the item in the eval, from 1. */
      no: number;
      case_id: components['schemas']['Id'];
      tags: string[];
      variant: string;
      /** @description Number of the repeat, from 1. */
      repeat: number;
      /** @enum {string} */
      status: 'waiting' | 'running' | 'scoring' | 'done' | 'failed' | 'skipped' | 'erased';
      answer: string | null;
      scores: components['schemas']['Score'][];
      /** @description Of its run. */
      duration_ms: number | null;
      /** @description Of its run. */
      input_tokens: number | null;
      /** @description Of its run. */
      output_tokens: number | null;
      /** @description How many of both are estimates, because the provider did not count them; null for none. */
      estimated_tokens: number | null;
      /** @description In millionths of a US dollar; 0 if the answer is reused; null if the price is unknown. */
      cost_micros: number | null;
      /** @description The limit that ended its run before an answer, such as `max_iterations`; null if none did. */
      ended_by: string | null;
      /** @description The first tool call that the recorded run lacks. */
      diverged: string | null;
      /** @description Whether the answer is that of an earlier eval. */
      reused: boolean;
      /** @description Why the item failed or was skipped. */
      error: string | null;
      agent: string;
      thread_id: components['schemas']['Id'] | null;
      run_id: components['schemas']['Id'] | null;
      judge_thread_id: components['schemas']['Id'] | null;
      judge_run_id: components['schemas']['Id'] | null;
      settled_at: string | null;
    };
    Score: {
      scorer: string;
      version: string | null;
      /** @description From 0 to 1; null: the scorer does not apply or has failed. */
      score: number | null;
      reason: string | null;
      error: string | null;
      /** @description Of a judge: the model that answered. */
      model?: string;
    };
    EvalReport: {
      /** @description Changes when the meaning of a field changes. */
      format: number;
      baseline: string | null;
      /** @description The results of each variant. */
      variants: Json;
      /** @description The baseline with each other variant: by case, worse ones first, and by tag. */
      comparisons: Json;
      seed: number;
      resamples: number;
    };
    SentEvent: {
      event: components['schemas']['Id'];
      /** @description The calls whose waits it ended. */
      resolved: {
        thread_id: components['schemas']['Id'];
        run_id: components['schemas']['Id'];
        /** @description The name of the call: its round and index. */
        call: string;
        /** @description Tool round of the run, from 1. */
        round: number;
        /** @description Position in the round, from 0. */
        index: number;
      }[];
      /** @description Whether it is kept for later waits. */
      kept: boolean;
    };
    NewEvent: {
      /** @description Text or JSON, at most 262,144 bytes; default null. */
      payload?: Json;
      /** @description How long the event is kept for calls that begin to wait later; default 0. */
      keep_ms?: number;
    };
    EventToken: {
      token: string;
      /** @description A POST to this URL sends the event, with the JSON body as its payload. */
      path: string;
    };
    NewEventToken: {
      /** @description Default: 30 days. The token also ends with the key that made it. */
      expires_ms?: number;
      /** @description How long the event is kept for calls that begin to wait later; default 0. */
      keep_ms?: number;
    };
    FeedbackReceipt: {
      /** @description The entry with the feedback. */
      seq: number;
      /** @description The message of the assistant. */
      answer_seq: number;
      run_id: components['schemas']['Id'] | null;
      /** @description Whether the key was used before: then nothing was written. */
      duplicate: boolean;
    };
    NewFeedback: {
      /** @description The message of the assistant, by its `seq`. */
      answer_seq?: number;
      /** @description Instead of `answer_seq`: the last answer of this run. */
      run_id?: components['schemas']['Id'];
      /**
       * @description Without rating and comment, the person takes back an earlier opinion.
       * @enum {string}
       */
      rating?: 'up' | 'down';
      comment?: string;
      /** @description The person. The last word of each person about an answer counts. */
      by?: string;
      /** @description The idempotency key. */
      op_id?: components['schemas']['Id'];
    };
    FeedbackPage: {
      data: components['schemas']['GivenFeedback'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    GivenFeedback: {
      thread_id: components['schemas']['Id'];
      /** @description The entry with the feedback. */
      seq: number;
      /** @description The message of the assistant. */
      answer_seq: number;
      run_id: components['schemas']['Id'] | null;
      /** @description The lane of the answer. */
      context_ref: components['schemas']['Id'];
      rating: ('up' | 'down') | null;
      comment: string | null;
      by: string | null;
      /**
       * Format: date-time
       * @description When it was given.
       */
      at: string;
      /** @description Whether it is the last word of this person about this answer. */
      latest: boolean;
      agent: string | null;
      agent_version: string | null;
    };
    MintedKey: {
      id: components['schemas']['Id'];
      /** @description Shown only once: the server stores only its hash. */
      key: string;
    };
    NewKey: {
      /** @description What the key is for. */
      name: string;
      scopes: components['schemas']['Scope'][];
      /** @description Only threads of this tenant; default: the tenant of the key that makes the request. */
      tenant?: components['schemas']['Id'];
      /** @description Only runs of these agents, in threads where no other agent has run. */
      agents?: string[];
      /** @description Only threads whose ids begin with this. */
      thread_prefix?: components['schemas']['Id'];
      limits?: components['schemas']['KeyLimits'];
      /** @description Lifetime of the key; default: unlimited. */
      expires_in_ms?: number;
    };
    /**
     * @description `read`: read threads and runs. `run`: start, retry and resume runs, and write to threads. `steer`: steer and cancel active runs. `approve`: approve and deny tool calls. `admin`: everything else.
     * @enum {string}
     */
    Scope: 'read' | 'run' | 'steer' | 'approve' | 'admin';
    KeyLimits: {
      /** @description Maximum requests per minute, in each API process. */
      requests_per_minute?: number;
      /** @description Maximum number of runs that have not ended. */
      runs?: number;
      /** @description Maximum number of open event streams, in each API process. */
      streams?: number;
      /** @description Maximum bytes of a request body. */
      body_bytes?: number;
    };
    KeyList: {
      data: components['schemas']['Key'][];
    };
    Key: {
      id: components['schemas']['Id'];
      /** @description What the key is for. */
      name: string;
      scopes: components['schemas']['Scope'][];
      /** @description Only threads of this tenant; default: the tenant of the key that makes the request. */
      tenant?: components['schemas']['Id'];
      /** @description Only runs of these agents, in threads where no other agent has run. */
      agents?: string[];
      /** @description Only threads whose ids begin with this. */
      thread_prefix?: components['schemas']['Id'];
      limits?: components['schemas']['KeyLimits'];
      created_by: string;
      /**
       * Format: date-time
       * @description When its newest secret was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it expires; null: never.
       */
      expires_at: string | null;
      /**
       * Format: date-time
       * @description When it was revoked.
       */
      revoked_at: string | null;
    };
    RotateKey: {
      /** @description How long the old secrets keep working; default: one hour. */
      overlap_ms?: number;
    };
    BrowserToken: {
      /** @description A Bearer token. */
      token: string;
      /**
       * Format: date-time
       * @description When it expires.
       */
      expires_at: string;
    };
    NewBrowserToken: {
      thread_id: components['schemas']['Id'];
      /** @description Only this run of the thread. */
      run_id?: components['schemas']['Id'];
      /**
       * @description `read`: see the thread or run. `chat`: also ask, steer and cancel. `approve`: also approve and deny tool calls.
       * @enum {string}
       */
      access: 'read' | 'chat' | 'approve';
      /** @description Only runs of these agents, in threads where no other agent has run. */
      agents?: string[];
      /** @description Default: 15 minutes; at most one day. */
      expires_in_ms?: number;
    };
    /** @description Queue, workers, and the runs, marks, errors, tokens and cost of a period. */
    Activity: {
      /** @description Unfinished runs by status. */
      runs: {
        [key: string]: number;
      };
      /** @description How long ago the oldest queued run could have started or continued: it waits for a worker or a limit. */
      oldest_queued_seconds: number;
      /** @description The same for runs that wait only for a worker, not for a limit. */
      oldest_ready_seconds: number;
      oldest_due_delivery_seconds: number;
      /** @description Number of workers by state; `dead` counts those that died in the last hour. `workers` lists those that hold runs. */
      fleet: {
        alive: number;
        draining: number;
        dead: number;
      };
      jobs: {
        queue: string;
        counts: {
          [key: string]: number;
        };
      }[];
      workers: {
        id: string;
        /** @description Runs it holds. */
        runs: number;
        /**
         * Format: date-time
         * @description When the latest of their leases expires.
         */
        lease_until: string;
        /**
         * Format: date-time
         * @description When the oldest of them started.
         */
        oldest_run_at: string;
      }[];
      errors: {
        type: string;
        runs: number;
        /**
         * Format: date-time
         * @description When the last one ended.
         */
        last_at: string;
      }[];
      slots: {
        /**
         * Format: date-time
         * @description Start of the slot.
         */
        at: string;
        /** @description Runs that were accepted. */
        runs: number;
        /** @description How many of them failed. */
        failed: number;
        /** @description How many of them completed without an answer: a limit ended them. */
        unanswered: number;
        input_tokens: number;
        output_tokens: number;
        cached_tokens: number;
        /** @description In US dollars, at the providers’ list prices. */
        cost: number;
        /** @description Tokens of models without a known price; `cost` does not include them. */
        unpriced_tokens: number;
        /** @description The runs that have marks, by mark, most first. */
        marks: {
          /** @description Kind of the mark. */
          mark: string;
          /** @description How many runs have it. */
          runs: number;
        }[];
        /** @description How many of them have not ended. */
        unfinished: number;
        /** @description Half of the runs that a worker started waited for that no longer than this, from when they were accepted, or from their `start_at`. Estimated from steps of a factor of 1.4. Null: none was started. */
        wait_p50_ms: number | null;
        /** @description 95 % of the runs that a worker started waited for that no longer than this, from when they were accepted, or from their `start_at`. Estimated from steps of a factor of 1.4. Null: none was started. */
        wait_p95_ms: number | null;
      }[];
      agents: {
        agent: string;
        version: string | null;
        /** @description Runs that were accepted. */
        runs: number;
        /** @description How many of them failed. */
        failed: number;
        /** @description How many of them completed without an answer: a limit ended them. */
        unanswered: number;
        input_tokens: number;
        output_tokens: number;
        cached_tokens: number;
        /** @description In US dollars, at the providers’ list prices. */
        cost: number;
        /** @description Tokens of models without a known price; `cost` does not include them. */
        unpriced_tokens: number;
        /** @description The runs that have marks, by mark, most first. */
        marks: {
          /** @description Kind of the mark. */
          mark: string;
          /** @description How many runs have it. */
          runs: number;
        }[];
      }[];
      deploys: {
        /**
         * Format: date-time
         * @description When a worker first started with the version.
         */
        at: string;
        agent: string;
        /** @description Id of the version. */
        version: string;
        /** @description Its label. */
        label: string | null;
      }[];
      /** @description How long a slot is: it depends on the period. */
      slot_minutes: number;
      /**
       * Format: date-time
       * @description `errors`, `slots` and `agents` count the runs accepted since then: the start of a slot.
       */
      since: string;
      /**
       * Format: date-time
       * @description The end of the period.
       */
      until: string;
    };
    /** @description What a worker did in a bounded time. */
    WorkReport: {
      /** @description Runs that the worker ended, or suspended for approval. */
      ended: number;
      /** @description Runs that it released for other workers, because the time was over. */
      released: number;
      /** @description Nothing was due any more; false: the time was over before. */
      idle: boolean;
    };
    /** @description For how long a server works. */
    WorkRequest: {
      /** @description How long it works at most, in seconds; default 55. */
      max_seconds?: number;
      /** @description Runs executed at once; default 20. */
      concurrency?: number;
    };
    Limit: {
      name: components['schemas']['Id'];
      /** @description The tenant that has set the limit, for its own runs. Null: the operator has set the limit, for all runs. */
      tenant: components['schemas']['Id'] | null;
      /**
       * @description `concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model calls in the interval.
       * @enum {string}
       */
      kind: 'concurrency' | 'runs' | 'requests' | 'tokens' | 'money';
      /** @description The largest amount that the limit lets pass: a whole number, or for `money` US dollars with at most 9 decimal places. */
      amount: number;
      /** @description The runs it applies to, by dimension: `tenant`, `key`, `agent`, `model`, `provider`, `thread`, or one of the `limit_keys` of requests. With the value `*`, each value of the dimension has the amount for itself. Default: all runs together. */
      scope?: {
        [key: string]: string;
      };
      /** @description Other amounts, by the value of the dimension with `*`. With several such dimensions, by their values in the alphabetical order of the dimensions, joined by `/`. */
      amounts?: {
        [key: string]: number;
      };
      /**
       * @description Which tokens count, for the kind `tokens`; default `total`.
       * @enum {string}
       */
      tokens?: 'input' | 'output' | 'total';
      /** @description The interval, which slides: by name, or in ms, up to 31 days. Every kind except `concurrency` needs this or `calendar`. */
      per?: ('second' | 'minute' | 'hour' | 'day') | number;
      /**
       * @description The interval starts with each day, week (on Monday) or month.
       * @enum {string}
       */
      calendar?: 'day' | 'week' | 'month';
      /** @description IANA time zone of `calendar`; default `UTC`. */
      time_zone?: string;
      /** @description The dimension whose values take turns when runs wait; default: the oldest run goes first. */
      share_by?: string;
      /** @description How many turns a value of `share_by` gets while another one gets one, from 0.001 to 1,000; default 1. */
      shares?: {
        [key: string]: number;
      };
      /** @description What only runs with this value of `share_by` may use: for all others, the limit is lower by that much, and they do not delay them. */
      reserve?: {
        [key: string]: number;
      };
      /**
       * @description Once the amount is used, a run that needs more waits (default), or ends with `budget_exhausted`. With `notice`, for `requests`, `tokens` and `money`, nothing is refused, and the run that passes it gets an event `limit_reached`.
       * @enum {string}
       */
      on_exhausted?: 'wait' | 'end' | 'notice';
      /**
       * Format: date-time
       * @description When it was first set.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      updated_at: string;
      /** @description `operator`, `key:<id>` or `cli:<user>`. */
      updated_by: string;
    };
    NewLimit: {
      /**
       * @description `concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model calls in the interval.
       * @enum {string}
       */
      kind: 'concurrency' | 'runs' | 'requests' | 'tokens' | 'money';
      /** @description The largest amount that the limit lets pass: a whole number, or for `money` US dollars with at most 9 decimal places. */
      amount: number;
      /** @description The runs it applies to, by dimension: `tenant`, `key`, `agent`, `model`, `provider`, `thread`, or one of the `limit_keys` of requests. With the value `*`, each value of the dimension has the amount for itself. Default: all runs together. */
      scope?: {
        [key: string]: string;
      };
      /** @description Other amounts, by the value of the dimension with `*`. With several such dimensions, by their values in the alphabetical order of the dimensions, joined by `/`. */
      amounts?: {
        [key: string]: number;
      };
      /**
       * @description Which tokens count, for the kind `tokens`; default `total`.
       * @enum {string}
       */
      tokens?: 'input' | 'output' | 'total';
      /** @description The interval, which slides: by name, or in ms, up to 31 days. Every kind except `concurrency` needs this or `calendar`. */
      per?: ('second' | 'minute' | 'hour' | 'day') | number;
      /**
       * @description The interval starts with each day, week (on Monday) or month.
       * @enum {string}
       */
      calendar?: 'day' | 'week' | 'month';
      /** @description IANA time zone of `calendar`; default `UTC`. */
      time_zone?: string;
      /** @description The dimension whose values take turns when runs wait; default: the oldest run goes first. */
      share_by?: string;
      /** @description How many turns a value of `share_by` gets while another one gets one, from 0.001 to 1,000; default 1. */
      shares?: {
        [key: string]: number;
      };
      /** @description What only runs with this value of `share_by` may use: for all others, the limit is lower by that much, and they do not delay them. */
      reserve?: {
        [key: string]: number;
      };
      /**
       * @description Once the amount is used, a run that needs more waits (default), or ends with `budget_exhausted`. With `notice`, for `requests`, `tokens` and `money`, nothing is refused, and the run that passes it gets an event `limit_reached`.
       * @enum {string}
       */
      on_exhausted?: 'wait' | 'end' | 'notice';
    };
    LimitHolderPage: {
      data: components['schemas']['LimitHolder'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    /** @description A run that holds a slot of a limit, or has reserved some of it for a call. */
    LimitHolder: {
      name: components['schemas']['Id'];
      /** @description The tenant that has set the limit, for its own runs. Null: the operator has set the limit, for all runs. */
      tenant: components['schemas']['Id'] | null;
      /**
       * @description `concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model calls in the interval.
       * @enum {string}
       */
      kind: 'concurrency' | 'runs' | 'requests' | 'tokens' | 'money';
      /** @description The values of the dimensions with `*` in the scope, joined by `/`; empty without such dimensions. */
      key: string;
      /** @description The amount that the run holds. For `money` in US dollars. */
      amount: number;
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      agent: string;
      status: components['schemas']['RunStatus'];
      /** @description The worker that executes it; null: none. */
      worker_id: string | null;
      /**
       * Format: date-time
       * @description When the run started; before its first claim, when the run became ready to start.
       */
      since: string;
    };
    LimitList: {
      data: components['schemas']['UsedLimit'][];
    };
    UsedLimit: {
      name: components['schemas']['Id'];
      /** @description The tenant that has set the limit, for its own runs. Null: the operator has set the limit, for all runs. */
      tenant: components['schemas']['Id'] | null;
      /**
       * @description `concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model calls in the interval.
       * @enum {string}
       */
      kind: 'concurrency' | 'runs' | 'requests' | 'tokens' | 'money';
      /** @description The largest amount that the limit lets pass: a whole number, or for `money` US dollars with at most 9 decimal places. */
      amount: number;
      /** @description The runs it applies to, by dimension: `tenant`, `key`, `agent`, `model`, `provider`, `thread`, or one of the `limit_keys` of requests. With the value `*`, each value of the dimension has the amount for itself. Default: all runs together. */
      scope?: {
        [key: string]: string;
      };
      /** @description Other amounts, by the value of the dimension with `*`. With several such dimensions, by their values in the alphabetical order of the dimensions, joined by `/`. */
      amounts?: {
        [key: string]: number;
      };
      /**
       * @description Which tokens count, for the kind `tokens`; default `total`.
       * @enum {string}
       */
      tokens?: 'input' | 'output' | 'total';
      /** @description The interval, which slides: by name, or in ms, up to 31 days. Every kind except `concurrency` needs this or `calendar`. */
      per?: ('second' | 'minute' | 'hour' | 'day') | number;
      /**
       * @description The interval starts with each day, week (on Monday) or month.
       * @enum {string}
       */
      calendar?: 'day' | 'week' | 'month';
      /** @description IANA time zone of `calendar`; default `UTC`. */
      time_zone?: string;
      /** @description The dimension whose values take turns when runs wait; default: the oldest run goes first. */
      share_by?: string;
      /** @description How many turns a value of `share_by` gets while another one gets one, from 0.001 to 1,000; default 1. */
      shares?: {
        [key: string]: number;
      };
      /** @description What only runs with this value of `share_by` may use: for all others, the limit is lower by that much, and they do not delay them. */
      reserve?: {
        [key: string]: number;
      };
      /**
       * @description Once the amount is used, a run that needs more waits (default), or ends with `budget_exhausted`. With `notice`, for `requests`, `tokens` and `money`, nothing is refused, and the run that passes it gets an event `limit_reached`.
       * @enum {string}
       */
      on_exhausted?: 'wait' | 'end' | 'notice';
      /**
       * Format: date-time
       * @description When it was first set.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      updated_at: string;
      /** @description `operator`, `key:<id>` or `cli:<user>`. */
      updated_by: string;
      /** @description First the keys that runs wait for, then the others, each in the order of the keys. */
      usage: components['schemas']['LimitUse'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    LimitUse: {
      /** @description The values of the dimensions with `*` in the scope, joined by `/`; empty without such dimensions. */
      key: string;
      /** @description The amount that applies to this key. */
      amount: number;
      /** @description Used in the interval, including `reserved`. For `money` in US dollars. */
      used: number;
      /** @description Taken by calls that have not ended. */
      reserved: number;
      /** @description Runs that wait for it. */
      waiting: number;
      /** @description All usage so far. */
      total: number;
      resets_at: string | null;
      noticed_at: string | null;
      drained_until: string | null;
      /** @description Used in each 1/32 of a sliding interval, oldest first; null for other limits. */
      slices: number[] | null;
      /** @description Number of waiting runs by value of `share_by`, for the ten values with the most waiting runs. */
      waiting_by: {
        [key: string]: number;
      } | null;
      /** @description Pass it as `after` to list the keys of the limit after this one. */
      cursor: string;
    };
    MonitorList: {
      data: components['schemas']['Monitor'][];
    };
    Monitor: {
      name: components['schemas']['Id'];
      /** @description The tenant whose runs it scores. */
      tenant: components['schemas']['Id'];
      /** @description The agents whose runs it scores; empty: all. */
      agents: string[];
      /** @description The share of the runs that it scores. */
      sample: number;
      /** @description Names of scorers that workers have. */
      scorers: string[];
      rubric: string | null;
      judge: {
        agent: string;
        /** @description Overrides the model of the agent, with those that stand in for it. */
        model?: string | string[] | components['schemas']['ModelFallback'];
      } | null;
      alert: {
        /** @description The mean score below which an alert is raised. */
        below: number;
        /** @description How many of the last runs count for the mean score. */
        of: number;
      } | null;
      /** @description How many runs were scored since the monitor was set. */
      scored: number;
      low_since: string | null;
      /**
       * Format: date-time
       * @description The monitor has scored all runs that ended before this time.
       */
      read_to: string;
      /**
       * Format: date-time
       * @description When it was first set.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      updated_at: string;
      /** @description `operator`, `key:<id>` or `cli:<user>`. */
      updated_by: string;
    };
    NewMonitor: {
      /** @description The agents whose runs it scores; empty: all. */
      agents?: string[];
      /** @description The share of the runs that it scores. */
      sample?: number;
      /** @description Names of scorers that workers have. */
      scorers?: string[];
      /** @description What the judge looks at. */
      rubric?: string;
      /** @description The agent that scores by the rubric, and its models. */
      judge?: {
        agent: string;
        /** @description Overrides the model of the agent, with those that stand in for it. */
        model?: string | string[] | components['schemas']['ModelFallback'];
      };
      alert?: {
        /** @description The mean score below which an alert is raised. */
        below: number;
        /** @description How many of the last runs count for the mean score. */
        of?: number;
      };
    };
    RunScoreList: {
      data: components['schemas']['RunScore'][];
      /** @description Pass it as `after`. */
      next_after: string | null;
    };
    RunScore: {
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      agent: string;
      agent_version: string | null;
      /**
       * @description `waiting`: the judge has not scored the run yet.
       * @enum {string}
       */
      status: 'waiting' | 'done';
      /** @description The mean of the scores that are not null; 0 for a failed run. */
      score: number | null;
      scores: components['schemas']['Score'][];
      /**
       * Format: date-time
       * @description When the run ended.
       */
      ended_at: string;
      /**
       * Format: date-time
       * @description When it was scored.
       */
      scored_at: string;
    };
    NewRun: {
      agent: string;
      input: components['schemas']['Content'];
      /** @description The lane; default: the thread’s active lane. */
      context_ref?: components['schemas']['Id'];
      /** @description A second request with this id returns the same run. You can send the id as `Idempotency-Key` instead. */
      request_id?: components['schemas']['Id'];
      /**
       * @description If the thread has an active run: `reject` (default) fails with 409 `thread_busy`, `wait` queues behind it, `interrupt` cancels it and goes first, which also needs the scope `steer`.
       * @enum {string}
       */
      busy?: 'reject' | 'wait' | 'interrupt';
      /** @description No worker starts the run before this delay. Meanwhile, the run keeps its thread busy. */
      delay_ms?: number;
      /** @description The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay. */
      ttl_ms?: number;
      /** @description Stored in the refs of the user message. */
      extra_refs?: JsonObject;
      /** @description Create the thread if it does not exist. */
      create_thread?: boolean;
      /** @description The version of the agent: a label or an id. Default: what its rollout chooses. */
      version?: string;
      /** @description Overrides the model of the agent, with those that stand in for it. */
      model?: string | string[] | components['schemas']['ModelFallback'];
      /** @description Overrides the strategy of the agent. */
      strategy?: string;
      /** @description Options of the strategy, merged over the agent’s if it has the same strategy. */
      strategy_options?: JsonObject;
      /** @description Names of the tools to use instead of the tools of agent and thread. */
      tools?: string[];
      /** @description Restricts the available tools to these; an empty array allows none. */
      allowed_tools?: string[];
      /** @description Merged over the tool context of agent and thread. */
      tool_context?: JsonObject;
      /** @description Overrides the settings of the agent, key by key. */
      settings?: components['schemas']['Settings'];
      /** @description HTTP headers of the model calls, merged with those in the settings. Stored with the run. */
      headers?: {
        [key: string]: string;
      };
      /** @description Name of the request transformer to use instead of the agent’s. */
      request_transformer?: string;
      /** @description Replaces the context policy of agent and thread. */
      context_policy?: components['schemas']['ContextPolicy'];
      /** @description Maximum number of iterations. */
      max_iterations?: number;
      /** @description Tokens of input and output after which the run ends with the best result it has. */
      max_total_tokens?: number;
      /** @description What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost more than is left. */
      max_cost?: number;
      /** @description Time after its start at which the run ends with the best result it has. */
      max_duration_ms?: number;
      /** @description Whether the model streams its answer. */
      streaming?: boolean;
      /** @description How long a model may stay silent before the run fails; 0: the tool timeout + 60,000. */
      idle_timeout_ms?: number;
      output?: components['schemas']['OutputContract'];
      /** @description Time limit of one tool attempt. */
      tool_timeout_ms?: number;
      /** @description Priority of the job: 0 (default) goes first, then lower numbers before higher ones. */
      priority?: number;
      /** @description Values that limits may apply to, by dimension. */
      limit_keys?: {
        [key: string]: string;
      };
      /**
       * @description rewind: after a failure, the lane goes back to its state before the run.
       * @enum {string}
       */
      on_failure?: 'keep' | 'rewind';
    };
    /** @description One answer per run, in the order of the request. */
    RunReceipts: {
      data: {
        run?: components['schemas']['RunReceipt'];
        /** @description Why the run was not accepted. */
        problem?: components['schemas']['Problem'];
      }[];
    };
    NewRuns: {
      runs: components['schemas']['BatchRun'][];
    };
    RunPage: {
      data: components['schemas']['ListedRun'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    /** @description A run as lists show it. */
    ListedRun: {
      thread_id: components['schemas']['Id'];
      id: string;
      request_id: string;
      agent: string;
      /** @description The version of the agent on the worker that took the run last; null before a worker has taken the run. */
      agent_version: string | null;
      strategy: string;
      model: string;
      context_ref: components['schemas']['Id'];
      status: components['schemas']['RunStatus'];
      /** @description Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`. */
      termination_reason: string | null;
      /** @description Why the model stopped writing the answer with which the run ended; null if there is none, or the provider did not say. */
      finish_reason: string | null;
      /** @description The answer was cut: at the limit of output tokens (`length`) or by a filter (`content_filter`). */
      truncated: boolean;
      /** @description Whether the run ended with an answer: false if it failed, was cancelled, or a limit ended it before; null until it ends. */
      answered: boolean | null;
      /** @description Iterations so far. */
      iteration: number;
      /** @description Commits so far. */
      step: number;
      /** @description Null if none are known. */
      usage: components['schemas']['Usage'] | null;
      /** @description The part of `usage` spent on models other than `model`, by model, each with its `calls`; null: none. */
      other_usage: {
        [key: string]: components['schemas']['Usage'];
      } | null;
      error: {
        type: string;
        message: string;
        /** @description What could not be written at the end of the run: restore, operation, configuration, results. */
        skipped?: string[];
      } | null;
      /** @description The run that this one repeats. */
      retry_of: components['schemas']['Id'] | null;
      /** @description The run whose checkpoint token started this one. */
      resumed_from: components['schemas']['Id'] | null;
      /** @description Tool calls of a suspended run that wait for approval; approve or deny each. */
      approvals: {
        /** @description The name of the call: its round and index. */
        call: string;
        /** @description Tool round of the run, from 1. */
        round: number;
        /** @description Position in the round, from 0. */
        index: number;
        /** @description Id assigned by the provider; not necessarily unique. */
        id: string;
        name: string;
        /** @description Arguments from the model. */
        arguments: Json;
      }[];
      /** @description Everything that a suspended run waits for, approvals included. */
      waits: components['schemas']['RunWait'][];
      /** @description The run whose tool call started it. */
      parent: components['schemas']['RunRef'] | null;
      /**
       * Format: date-time
       * @description When the next wait ends by itself.
       */
      suspended_until: string | null;
      /**
       * Format: date-time
       * @description Since when the run has been waiting for a worker that knows its agent and strategy.
       */
      agent_unknown_since: string | null;
      /** @description Priority of the job: 0 goes first, then lower numbers before higher ones. */
      priority: number;
      /**
       * Format: date-time
       * @description No worker starts the run before this time.
       */
      start_at: string | null;
      /**
       * Format: date-time
       * @description When the run fails with `expired` if no worker has started it.
       */
      expires_at: string | null;
      /** @description The limit that a queued run waits for, or the model whose circuit is open. */
      limited_by: {
        /** @description The name of the limit. */
        limit?: string;
        /** @description The model whose circuit is open, if it waits for that. */
        circuit?: string;
        /**
         * Format: date-time
         * @description Since when it waits.
         */
        since: string;
        /** @description The tenant that set it; absent: the operator. */
        owner?: components['schemas']['Id'];
        /** @description The values of its scope that have an amount of their own. */
        key?: string;
        /**
         * Format: date-time
         * @description When it may let the run continue; absent if only the end of another run can tell.
         */
        until?: string;
      } | null;
      /** @description The version of its agent that the run waits for, if workers know the agent but not this version. */
      unknown_version: string | null;
      /** @description The strategy that the run waits for, if workers know its agent but not the strategy. */
      unknown_strategy: string | null;
      /** @description The tools that the run waits for, if workers know its agent but not all of these tools. */
      unknown_tools: string[] | null;
      /**
       * Format: date-time
       * @description When the run was accepted.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a worker first claimed it.
       */
      started_at: string | null;
      /**
       * Format: date-time
       * @description When the run ended.
       */
      finished_at: string | null;
      duration_ms: number | null;
      /** @description The final answer, or the best result of a search; null until the run ends, and if it ended without one. */
      result: Json;
      /** @description The first 200 characters of the message that started the run; null if none did, as for a compaction. */
      question: string | null;
      /** @description In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
      cost: number | null;
      /** @description Tokens of models without a known price; `cost` does not include them. */
      unpriced_tokens: number;
      /** @description Marks of the run, counted by kind. A run that waits has its mark only in its thread. */
      marks: components['schemas']['MarkCount'][];
      /** @description How many runs its tool calls have started. */
      children: number;
    };
    /** @description A tool call that waits. */
    RunWait: {
      /** @description The name of the call: its round and index. */
      call: string;
      /** @description Tool round of the run, from 1. */
      round: number;
      /** @description Position in the round, from 0. */
      index: number;
      /** @description The name of the tool. */
      name: string;
      /** @enum {string} */
      kind: 'approval' | 'event' | 'time' | 'run';
      /** @description The event it waits for. */
      event: components['schemas']['Id'] | null;
      /** @description The run it waits for. */
      run: components['schemas']['RunRef'] | null;
      /**
       * Format: date-time
       * @description Since when it waits.
       */
      since: string;
      /**
       * Format: date-time
       * @description When it ends by itself; null: never.
       */
      until: string | null;
    };
    /** @description The number of marks of one kind, and the place of the first mark. */
    MarkCount: {
      run_id: components['schemas']['Id'];
      /** @description `failed`, `ended_early`, `abandoned`, `tool_failed`, `arguments_refused`, `tool_retried`, `model_retried`, `model_fell_back`, `worker_lost`, `cut`, `over_budget`, `cache_missed`, `handoffs_looped`, `model_overridden`, `liked`, `disliked`, `steered`, `steer_dropped`, `prompt_changed`, `context_replaced`, `compacted` or `waiting`. More kinds may be added. */
      kind: string;
      /** @description The entry to look at; null: the mark concerns the whole run. */
      seq: number | null;
      /** @description The model call that shows more, if any. */
      llm_call_id: components['schemas']['Id'] | null;
      /** @description Number of marks of this kind. */
      count: number;
    };
    /** @description How many runs a filter finds, the most frequent first. */
    RunCounts: {
      /**
       * Format: date-time
       * @description All runs accepted since then were looked at; null: all runs.
       */
      since: string | null;
      /** @description Runs found. */
      runs: number;
      /** @description How many of them have each mark; 0: only runs accepted before `since` have it. */
      marks: {
        mark: string;
        runs: number;
      }[];
      statuses: {
        status: components['schemas']['RunStatus'];
        runs: number;
      }[];
      /** @description By agent and version. */
      agents: {
        agent: string;
        version: string | null;
        runs: number;
      }[];
    };
    /** @description A run with its current phase and tool calls. */
    RunSnapshot: {
      thread_id: components['schemas']['Id'];
      id: string;
      request_id: string;
      agent: string;
      /** @description The version of the agent on the worker that took the run last; null before a worker has taken the run. */
      agent_version: string | null;
      strategy: string;
      model: string;
      context_ref: components['schemas']['Id'];
      status: components['schemas']['RunStatus'];
      /** @description Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`. */
      termination_reason: string | null;
      /** @description Why the model stopped writing the answer with which the run ended; null if there is none, or the provider did not say. */
      finish_reason: string | null;
      /** @description The answer was cut: at the limit of output tokens (`length`) or by a filter (`content_filter`). */
      truncated: boolean;
      /** @description Whether the run ended with an answer: false if it failed, was cancelled, or a limit ended it before; null until it ends. */
      answered: boolean | null;
      /** @description Iterations so far. */
      iteration: number;
      /** @description Commits so far. */
      step: number;
      /** @description Null if none are known. */
      usage: components['schemas']['Usage'] | null;
      /** @description The part of `usage` spent on models other than `model`, by model, each with its `calls`; null: none. */
      other_usage: {
        [key: string]: components['schemas']['Usage'];
      } | null;
      error: {
        type: string;
        message: string;
        /** @description What could not be written at the end of the run: restore, operation, configuration, results. */
        skipped?: string[];
      } | null;
      /** @description The run that this one repeats. */
      retry_of: components['schemas']['Id'] | null;
      /** @description The run whose checkpoint token started this one. */
      resumed_from: components['schemas']['Id'] | null;
      /** @description Tool calls of a suspended run that wait for approval; approve or deny each. */
      approvals: {
        /** @description The name of the call: its round and index. */
        call: string;
        /** @description Tool round of the run, from 1. */
        round: number;
        /** @description Position in the round, from 0. */
        index: number;
        /** @description Id assigned by the provider; not necessarily unique. */
        id: string;
        name: string;
        /** @description Arguments from the model. */
        arguments: Json;
      }[];
      /** @description Everything that a suspended run waits for, approvals included. */
      waits: components['schemas']['RunWait'][];
      /** @description The run whose tool call started it. */
      parent: components['schemas']['RunRef'] | null;
      /**
       * Format: date-time
       * @description When the next wait ends by itself.
       */
      suspended_until: string | null;
      /**
       * Format: date-time
       * @description Since when the run has been waiting for a worker that knows its agent and strategy.
       */
      agent_unknown_since: string | null;
      /** @description Priority of the job: 0 goes first, then lower numbers before higher ones. */
      priority: number;
      /**
       * Format: date-time
       * @description No worker starts the run before this time.
       */
      start_at: string | null;
      /**
       * Format: date-time
       * @description When the run fails with `expired` if no worker has started it.
       */
      expires_at: string | null;
      /** @description The limit that a queued run waits for, or the model whose circuit is open. */
      limited_by: {
        /** @description The name of the limit. */
        limit?: string;
        /** @description The model whose circuit is open, if it waits for that. */
        circuit?: string;
        /**
         * Format: date-time
         * @description Since when it waits.
         */
        since: string;
        /** @description The tenant that set it; absent: the operator. */
        owner?: components['schemas']['Id'];
        /** @description The values of its scope that have an amount of their own. */
        key?: string;
        /**
         * Format: date-time
         * @description When it may let the run continue; absent if only the end of another run can tell.
         */
        until?: string;
      } | null;
      /** @description The version of its agent that the run waits for, if workers know the agent but not this version. */
      unknown_version: string | null;
      /** @description The strategy that the run waits for, if workers know its agent but not the strategy. */
      unknown_strategy: string | null;
      /** @description The tools that the run waits for, if workers know its agent but not all of these tools. */
      unknown_tools: string[] | null;
      /**
       * Format: date-time
       * @description When the run was accepted.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a worker first claimed it.
       */
      started_at: string | null;
      /**
       * Format: date-time
       * @description When the run ended.
       */
      finished_at: string | null;
      duration_ms: number | null;
      /** @description The final answer, or the best result of a search; null until the run ends, and if it ended without one. */
      result: Json;
      /** @description The first 200 characters of the message that started the run; null if none did, as for a compaction. */
      question: string | null;
      /** @description In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
      cost: number | null;
      /** @description Tokens of models without a known price; `cost` does not include them. */
      unpriced_tokens: number;
      /** @description What was spent on each model, with the price used. */
      cost_by_model: components['schemas']['ModelCost'][];
      /** @description What the strategy `adaptive` chose, and why. */
      selection: {
        strategy: string;
        score: number;
        task_type: string;
      } | null;
      /** @description What the run is waiting for: `llm`, `tools` or `output`. */
      phase: string | null;
      /** @description The current model call, or otherwise the last known model call. */
      call_id: string | null;
      /** @description Maximum iterations; null if this server does not know the agent. */
      max_iterations: number | null;
      /** @description Names of the tools; null if this server does not know the agent. */
      tools: string[] | null;
      tool_calls: components['schemas']['RunToolCall'][];
      /** @description Inputs the run has not read yet. */
      queued_inputs: number;
      /** @description The worker that holds the run, while it is running. */
      worker: {
        id: string;
        /**
         * Format: date-time
         * @description When its lease expires if it is not renewed.
         */
        lease_until: string;
      } | null;
      /** @description The run’s latest job in BullMQ, which may have removed it. */
      job: {
        queue: string;
        id: string;
      };
      /** @description Why no worker can take the run: none is alive, or no live worker knows its agent, version or strategy, or has its tools; null otherwise. */
      unattended: {
        /** @enum {string} */
        reason: 'no_worker' | 'unknown_agent' | 'unknown_version' | 'unknown_strategy' | 'unknown_tool';
        message: string;
      } | null;
      output: JsonObject | null;
      /** @description What the strategy extracts from the answer besides the result; null: nothing. */
      details: Json;
    };
    ModelCost: {
      model: string;
      /** @description Tokens of input, including tokens from the provider’s cache. */
      input_tokens: number;
      /** @description Tokens of output. */
      output_tokens: number;
      /** @description Tokens of input read from the cache. */
      cached_tokens: number;
      /** @description Tokens of input written to the cache. */
      written_tokens: number;
      /** @description In US dollars; null if the price is unknown. */
      cost: number | null;
      /** @description The price that was used: the server’s own, or the list price of the day the run was accepted. */
      price: ('own' | 'list') | null;
      /** @description The list price per million tokens, without rates that depend on the length of a request. */
      per_million: {
        input?: number;
        output?: number;
        cache_read?: number;
        cache_write?: number;
      } | null;
    };
    RunToolCall: {
      /** @description The name of the call: its round and index. */
      call: string;
      /** @description Tool round of the run, from 1. */
      round: number;
      /** @description Position in the round, from 0. */
      index: number;
      /** @description Id assigned by the provider; not necessarily unique. */
      id: string;
      name: string;
      /** @description Arguments from the model. */
      arguments: Json;
      status: string;
      /** @description The result as the model sees it; null while the call is open. */
      result: Json;
      /** @description Number of executions. */
      attempts: number;
      duration_ms: number | null;
    };
    /** @description A run with all runs below it: those that its tool calls have started, and those that these runs have started in turn. */
    RunTree: {
      root: components['schemas']['RunRef'];
      /** @description Each run is followed by the runs that its tool calls started, in order of time. */
      runs: components['schemas']['TreeRun'][];
      /** @description The sum over all runs of the tree. */
      usage: components['schemas']['Usage'] | null;
      /** @description In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
      cost: number | null;
      /** @description Tokens of models without a known price; `cost` does not include them. */
      unpriced_tokens: number;
    };
    TreeRun: {
      thread_id: components['schemas']['Id'];
      id: string;
      agent: string;
      model: string;
      context_ref: components['schemas']['Id'];
      status: components['schemas']['RunStatus'];
      /** @description Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`. */
      termination_reason: string | null;
      /** @description Iterations so far. */
      iteration: number;
      error: {
        type: string;
        message: string;
        /** @description What could not be written at the end of the run: restore, operation, configuration, results. */
        skipped?: string[];
      } | null;
      /** @description 0 for the root. */
      depth: number;
      /** @description The call that started it; null for the root. */
      parent: {
        thread_id: components['schemas']['Id'];
        id: string;
        /** @description The name of the call: its round and index. */
        call: string;
        /** @description Tool round of the call that started it. */
        round: number;
        /** @description Position of the call in its round. */
        index: number;
      } | null;
      usage: components['schemas']['Usage'] | null;
      /** @description In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
      cost: number | null;
      /** @description Tokens of models without a known price; `cost` does not include them. */
      unpriced_tokens: number;
      waits: components['schemas']['RunWait'][];
      /**
       * Format: date-time
       * @description When the run was accepted.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a worker first claimed it.
       */
      started_at: string | null;
      /**
       * Format: date-time
       * @description When the run ended.
       */
      finished_at: string | null;
    };
    CancelReceipt: {
      id: components['schemas']['Id'];
      thread_id: components['schemas']['Id'];
      status: components['schemas']['RunStatus'];
      /** @description false: the run had already ended. */
      accepted: boolean;
    };
    CancelRun: {
      reason?: string;
    };
    RetryRun: {
      /** @description A second request with this id returns the same run. */
      request_id?: components['schemas']['Id'];
      /**
       * @description As for a new run.
       * @enum {string}
       */
      busy?: 'reject' | 'wait' | 'interrupt';
      /** @description True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has asked it gets the answer that the agent gave then. */
      fresh_children?: boolean;
    };
    CancelRuns: {
      /** @description The runs: the filter of the list. An act needs `created_before`, the moment of its preview: it takes the runs that were accepted before. */
      filter: {
        status?: components['schemas']['RunStatus'];
        /** @description Runs of this agent. */
        agent?: string;
        /** @description Runs that this version of their agent took: `agentVersion`. */
        version?: string;
        /**
         * @description A run with this mark.
         * @enum {string}
         */
        mark?:
          | 'failed'
          | 'ended_early'
          | 'abandoned'
          | 'tool_failed'
          | 'arguments_refused'
          | 'tool_retried'
          | 'model_retried'
          | 'model_fell_back'
          | 'worker_lost'
          | 'cut'
          | 'over_budget'
          | 'cache_missed'
          | 'handoffs_looped'
          | 'model_overridden'
          | 'liked'
          | 'disliked'
          | 'steered'
          | 'steer_dropped'
          | 'prompt_changed'
          | 'context_replaced'
          | 'compacted';
        /**
         * @description A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
         * @enum {string}
         */
        waiting_for?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
        /** @description Runs of threads of this tenant. */
        tenant_id?: components['schemas']['Id'];
        /** @description Runs of threads whose metadata contains this JSON object. */
        metadata?: JsonObject;
        /** @description Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
        text?: string;
        /** @description False: runs that ended without an answer. */
        answered?: boolean;
        /** @description False: only runs that no tool call has started. */
        children?: boolean;
        /** @description Runs with this model. */
        model?: string;
        /** @description Failed runs with this error type. */
        error_type?: string;
        /** @description Runs that spent at least this many tokens. */
        min_tokens?: number;
        /**
         * Format: date-time
         * @description Runs accepted at this time or later.
         */
        created_after?: string;
        /**
         * Format: date-time
         * @description Runs accepted before this time.
         */
        created_before?: string;
      };
      /** @description A preview: counts the runs, shows the first few, and changes nothing. */
      dry_run?: boolean;
      /** @description Maximum number of runs to act on; default 100. */
      limit?: number;
      /** @description The `next_after` of the previous page. */
      after?: string;
      reason?: string;
    };
    RetryRuns: {
      /** @description The runs: the filter of the list. An act needs `created_before`, the moment of its preview: it takes the runs that were accepted before. */
      filter: {
        status?: components['schemas']['RunStatus'];
        /** @description Runs of this agent. */
        agent?: string;
        /** @description Runs that this version of their agent took: `agentVersion`. */
        version?: string;
        /**
         * @description A run with this mark.
         * @enum {string}
         */
        mark?:
          | 'failed'
          | 'ended_early'
          | 'abandoned'
          | 'tool_failed'
          | 'arguments_refused'
          | 'tool_retried'
          | 'model_retried'
          | 'model_fell_back'
          | 'worker_lost'
          | 'cut'
          | 'over_budget'
          | 'cache_missed'
          | 'handoffs_looped'
          | 'model_overridden'
          | 'liked'
          | 'disliked'
          | 'steered'
          | 'steer_dropped'
          | 'prompt_changed'
          | 'context_replaced'
          | 'compacted';
        /**
         * @description A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
         * @enum {string}
         */
        waiting_for?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
        /** @description Runs of threads of this tenant. */
        tenant_id?: components['schemas']['Id'];
        /** @description Runs of threads whose metadata contains this JSON object. */
        metadata?: JsonObject;
        /** @description Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
        text?: string;
        /** @description False: runs that ended without an answer. */
        answered?: boolean;
        /** @description False: only runs that no tool call has started. */
        children?: boolean;
        /** @description Runs with this model. */
        model?: string;
        /** @description Failed runs with this error type. */
        error_type?: string;
        /** @description Runs that spent at least this many tokens. */
        min_tokens?: number;
        /**
         * Format: date-time
         * @description Runs accepted at this time or later.
         */
        created_after?: string;
        /**
         * Format: date-time
         * @description Runs accepted before this time.
         */
        created_before?: string;
      };
      /** @description A preview: counts the runs, shows the first few, and changes nothing. */
      dry_run?: boolean;
      /** @description Maximum number of runs to act on; default 100. */
      limit?: number;
      /** @description The `next_after` of the previous page. */
      after?: string;
      /** @description Repeating the id repeats the request of each run. */
      request_id?: components['schemas']['Id'];
      /**
       * @description As for a new run.
       * @enum {string}
       */
      busy?: 'reject' | 'wait';
      /** @description True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has asked it gets the answer that the agent gave then. */
      fresh_children?: boolean;
    };
    ReleaseRuns: {
      /** @description The runs: the filter of the list. An act needs `created_before`, the moment of its preview: it takes the runs that were accepted before. */
      filter: {
        status?: components['schemas']['RunStatus'];
        /** @description Runs of this agent. */
        agent?: string;
        /** @description Runs that this version of their agent took: `agentVersion`. */
        version?: string;
        /**
         * @description A run with this mark.
         * @enum {string}
         */
        mark?:
          | 'failed'
          | 'ended_early'
          | 'abandoned'
          | 'tool_failed'
          | 'arguments_refused'
          | 'tool_retried'
          | 'model_retried'
          | 'model_fell_back'
          | 'worker_lost'
          | 'cut'
          | 'over_budget'
          | 'cache_missed'
          | 'handoffs_looped'
          | 'model_overridden'
          | 'liked'
          | 'disliked'
          | 'steered'
          | 'steer_dropped'
          | 'prompt_changed'
          | 'context_replaced'
          | 'compacted';
        /**
         * @description A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take it, the run before it, or its start.
         * @enum {string}
         */
        waiting_for?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
        /** @description Runs of threads of this tenant. */
        tenant_id?: components['schemas']['Id'];
        /** @description Runs of threads whose metadata contains this JSON object. */
        metadata?: JsonObject;
        /** @description Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
        text?: string;
        /** @description False: runs that ended without an answer. */
        answered?: boolean;
        /** @description False: only runs that no tool call has started. */
        children?: boolean;
        /** @description Runs with this model. */
        model?: string;
        /** @description Failed runs with this error type. */
        error_type?: string;
        /** @description Runs that spent at least this many tokens. */
        min_tokens?: number;
        /**
         * Format: date-time
         * @description Runs accepted at this time or later.
         */
        created_after?: string;
        /**
         * Format: date-time
         * @description Runs accepted before this time.
         */
        created_before?: string;
      };
      /** @description A preview: counts the runs, shows the first few, and changes nothing. */
      dry_run?: boolean;
      /** @description Maximum number of runs to act on; default 100. */
      limit?: number;
      /** @description The `next_after` of the previous page. */
      after?: string;
      /**
       * @description For calls that wait for approval; default: they go on waiting.
       * @enum {string}
       */
      decision?: 'approve' | 'deny';
      /** @description Reason for the decision; the model sees the reason for a denial. */
      reason?: string;
      /** @description The result of calls that wait for an event or a time; default null. */
      result?: Json;
      /** @description These calls fail with this message instead. */
      error?: string;
      /** @description Who releases them. */
      by?: string;
    };
    Rerun: {
      /** @description Id of the fork; default: a generated id. */
      thread_id?: components['schemas']['Id'];
      /** @description The version of the agent: a label or an id. Default: what its rollout chooses. */
      version?: string;
      /** @description Overrides the model of the run. */
      model?: string;
      /** @description Overrides the prompt of the lane. Every agent must list `systemPrompt` as overridable. */
      system_prompt?: string | null;
      /** @description Replaces the context policy of agent and thread. */
      context_policy?: components['schemas']['ContextPolicy'];
      /** @description True: calls of other agents start new runs. By default, a call that asks an agent what the earlier run has asked it gets the answer that the agent gave then. */
      fresh_children?: boolean;
      /** @description Your own data, stored with the fork. */
      metadata?: JsonObject;
      /** @description A second request with this id returns the same run. */
      request_id?: components['schemas']['Id'];
    };
    /** @description The run accepted the input. */
    InputReceipt: {
      input_id: components['schemas']['Id'];
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      /**
       * @description queued: the run reads it before its next model call; injected: it is in the context; dropped: the run ended first.
       * @enum {string}
       */
      status: 'queued' | 'injected' | 'dropped';
      /** @description true: the input had already been accepted. */
      duplicate: boolean;
    };
    NewInput: {
      /** @description Text, which is trimmed, or content parts. */
      content: string | components['schemas']['ContentPart'][];
      /**
       * @description Input always has the role user.
       * @enum {string}
       */
      role?: 'user';
      /** @description Who sent it, for the log. */
      by?: string;
      /** @description Stored in the refs of the message; up to 64 KiB. */
      extra_refs?: JsonObject;
      /** @description Reject the input unless the run of this request is active. */
      expected_request_id?: components['schemas']['Id'];
      /** @description A second request with this id does not repeat the input. You can send the id as `Idempotency-Key` instead. */
      input_id?: components['schemas']['Id'];
    };
    InputPage: {
      data: components['schemas']['Input'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    /** @description Input sent to an active run. */
    Input: {
      id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      /** @description Position among the inputs of the run, from 1. */
      ordinal: number;
      /** @enum {string} */
      kind: 'steer' | 'inject';
      by: string;
      content: components['schemas']['Content'];
      /**
       * @description queued: the run reads it before its next model call; injected: it is in the context; dropped: the run ended first.
       * @enum {string}
       */
      status: 'queued' | 'injected' | 'dropped';
      /** @description The entry of the resulting message. */
      entry_seq: number | null;
      /**
       * Format: date-time
       * @description When it was accepted.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it became a message or was dropped.
       */
      settled_at: string | null;
    };
    DecisionReceipt: {
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      /** @description The name of the call: its round and index. */
      call: string;
      /** @enum {string} */
      decision: 'approved' | 'denied';
      by: string | null;
      reason: string | null;
      /**
       * Format: date-time
       * @description When the decision was made.
       */
      decided_at: string;
      /** @description true: the same decision had already been made. */
      duplicate: boolean;
      status: components['schemas']['RunStatus'];
    };
    Decision: {
      /** @description Reason for the decision; the model sees the reason for a denial. */
      reason?: string;
      /** @description Who made the decision. */
      by?: string;
    };
    /** @description A page of nodes. */
    RunNodePage: {
      data: components['schemas']['RunNode'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    /** @description A finding of a strategy: a thought, or the answer to a question that the strategy asked. */
    RunNode: {
      /** @description Number of the node, from 1, in the order of creation. */
      node: number;
      /** @description The node from which this node follows; 0 is the question of the run. */
      parent: number | null;
      /** @description Only if the strategy builds a tree. */
      depth: number | null;
      /** @description For an answer, what was asked for, such as `generate`; otherwise `thought`, or the strategy’s name for it. */
      kind: string;
      /** @description For an answer, `answered` or `tools`; for a thought, `open`, `expanded` or `best`. */
      status: string;
      /** @description From 0 to 1, if the strategy scores. */
      score: number | null;
      content: string | null;
      /** @description For an answer, its model call. */
      call_id: string | null;
      /** @description For an answer, its token counters; otherwise null. */
      usage: components['schemas']['Usage'] | null;
      /** @description For an answer, when it arrived: milliseconds since the run started. */
      elapsed_ms: number | null;
      /** @description For an answer, its tool rounds; otherwise notes of the strategy. */
      data: Json;
    };
    RunEventPage: {
      data: components['schemas']['RunEvent'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    /** @description An event of the trace. */
    RunEvent: {
      /** @description Number in the thread, from 0, without gaps. */
      event_seq: number;
      run_id: components['schemas']['Id'];
      /** @description Number in the run, from 1, without gaps. */
      seq: number;
      kind: string;
      /** @description The iteration that the event belongs to. */
      iteration: number;
      /** @description Depends on the kind; `data.seq` refers to an entry. */
      data: JsonObject;
      /**
       * Format: date-time
       * @description When the event was committed.
       */
      at: string;
    };
    /** @description A token for a step of a run. */
    Checkpoint: {
      /** @description Signed, not encrypted. It names a run and its step, and contains nothing from the conversation. */
      token: string;
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      /** @description The step the token refers to. */
      step: number;
      /**
       * Format: date-time
       * @description When the token expires; null: never.
       */
      expires_at: string | null;
    };
    NewCheckpoint: {
      /** @description Lifetime of the token; default: 30 days. null: unlimited. */
      expires_in_ms?: number | null;
    };
    /** @description One request executed by an agent. */
    Run: {
      thread_id: components['schemas']['Id'];
      id: string;
      request_id: string;
      agent: string;
      /** @description The version of the agent on the worker that took the run last; null before a worker has taken the run. */
      agent_version: string | null;
      strategy: string;
      model: string;
      context_ref: components['schemas']['Id'];
      status: components['schemas']['RunStatus'];
      /** @description Why the run ended; null until then. A run that reaches a limit, such as `max_iterations`, is also `completed`. */
      termination_reason: string | null;
      /** @description Why the model stopped writing the answer with which the run ended; null if there is none, or the provider did not say. */
      finish_reason: string | null;
      /** @description The answer was cut: at the limit of output tokens (`length`) or by a filter (`content_filter`). */
      truncated: boolean;
      /** @description Whether the run ended with an answer: false if it failed, was cancelled, or a limit ended it before; null until it ends. */
      answered: boolean | null;
      /** @description Iterations so far. */
      iteration: number;
      /** @description Commits so far. */
      step: number;
      /** @description Null if none are known. */
      usage: components['schemas']['Usage'] | null;
      /** @description The part of `usage` spent on models other than `model`, by model, each with its `calls`; null: none. */
      other_usage: {
        [key: string]: components['schemas']['Usage'];
      } | null;
      error: {
        type: string;
        message: string;
        /** @description What could not be written at the end of the run: restore, operation, configuration, results. */
        skipped?: string[];
      } | null;
      /** @description The run that this one repeats. */
      retry_of: components['schemas']['Id'] | null;
      /** @description The run whose checkpoint token started this one. */
      resumed_from: components['schemas']['Id'] | null;
      /** @description Tool calls of a suspended run that wait for approval; approve or deny each. */
      approvals: {
        /** @description The name of the call: its round and index. */
        call: string;
        /** @description Tool round of the run, from 1. */
        round: number;
        /** @description Position in the round, from 0. */
        index: number;
        /** @description Id assigned by the provider; not necessarily unique. */
        id: string;
        name: string;
        /** @description Arguments from the model. */
        arguments: Json;
      }[];
      /** @description Everything that a suspended run waits for, approvals included. */
      waits: components['schemas']['RunWait'][];
      /** @description The run whose tool call started it. */
      parent: components['schemas']['RunRef'] | null;
      /**
       * Format: date-time
       * @description When the next wait ends by itself.
       */
      suspended_until: string | null;
      /**
       * Format: date-time
       * @description Since when the run has been waiting for a worker that knows its agent and strategy.
       */
      agent_unknown_since: string | null;
      /** @description Priority of the job: 0 goes first, then lower numbers before higher ones. */
      priority: number;
      /**
       * Format: date-time
       * @description No worker starts the run before this time.
       */
      start_at: string | null;
      /**
       * Format: date-time
       * @description When the run fails with `expired` if no worker has started it.
       */
      expires_at: string | null;
      /** @description The limit that a queued run waits for, or the model whose circuit is open. */
      limited_by: {
        /** @description The name of the limit. */
        limit?: string;
        /** @description The model whose circuit is open, if it waits for that. */
        circuit?: string;
        /**
         * Format: date-time
         * @description Since when it waits.
         */
        since: string;
        /** @description The tenant that set it; absent: the operator. */
        owner?: components['schemas']['Id'];
        /** @description The values of its scope that have an amount of their own. */
        key?: string;
        /**
         * Format: date-time
         * @description When it may let the run continue; absent if only the end of another run can tell.
         */
        until?: string;
      } | null;
      /** @description The version of its agent that the run waits for, if workers know the agent but not this version. */
      unknown_version: string | null;
      /** @description The strategy that the run waits for, if workers know its agent but not the strategy. */
      unknown_strategy: string | null;
      /** @description The tools that the run waits for, if workers know its agent but not all of these tools. */
      unknown_tools: string[] | null;
      /**
       * Format: date-time
       * @description When the run was accepted.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a worker first claimed it.
       */
      started_at: string | null;
      /**
       * Format: date-time
       * @description When the run ended.
       */
      finished_at: string | null;
      duration_ms: number | null;
      /** @description The final answer, or the best result of a search; null until the run ends, and if it ended without one. */
      result: Json;
    };
    Resume: {
      /** @description Signed, not encrypted. It names a run and its step, and contains nothing from the conversation. */
      token: string;
      /** @description A new user message; starts a new run on the same lane. */
      query?: components['schemas']['Content'];
      /** @description With `query`: repeating the id returns the same run. Or send it as `Idempotency-Key`. */
      request_id?: components['schemas']['Id'];
    };
    Collect: {
      /** @description Signed, not encrypted. It names a run and its step, and contains nothing from the conversation. */
      token: string;
    };
    MarkList: {
      data: components['schemas']['Mark'][];
    };
    /** @description Something in a run that is worth a look. */
    Mark: {
      run_id: components['schemas']['Id'];
      /** @description `failed`, `ended_early`, `abandoned`, `tool_failed`, `arguments_refused`, `tool_retried`, `model_retried`, `model_fell_back`, `worker_lost`, `cut`, `over_budget`, `cache_missed`, `handoffs_looped`, `model_overridden`, `liked`, `disliked`, `steered`, `steer_dropped`, `prompt_changed`, `context_replaced`, `compacted` or `waiting`. More kinds may be added. */
      kind: string;
      /** @description The entry to look at; null: the mark concerns the whole run. */
      seq: number | null;
      /** @description The model call that shows more, if any. */
      llm_call_id: components['schemas']['Id'] | null;
      /** @description Depends on the kind. */
      data: JsonObject;
    };
    CancelByToken: {
      /** @description Signed, not encrypted. It names a run and its step, and contains nothing from the conversation. */
      token: string;
      reason?: string;
    };
    ScheduleList: {
      data: components['schemas']['Schedule'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    Schedule: {
      name: components['schemas']['Id'];
      /** @description The tenant whose runs it starts. */
      tenant: components['schemas']['Id'];
      agent: string;
      /** @description The user message of each run. In texts, `{{slot}}` is the time of the slot in ISO 8601, `{{date}}` and `{{time}}` its date and time in the time zone, and `{{previous}}` that of the last slot before it that started a run. */
      input: components['schemas']['Content'];
      /** @description Five fields, six with seconds in front, or a nickname such as `@daily`. Either this or `every_ms`. */
      cron?: string;
      /** @description The interval, counted from `start_at`, or from 1970 without `start_at`. */
      every_ms?: number;
      /** @description IANA time zone; default `UTC`. */
      time_zone?: string;
      /**
       * Format: date-time
       * @description No slot is before this time.
       */
      start_at?: string;
      /**
       * Format: date-time
       * @description Every slot is before this time.
       */
      end_at?: string;
      /** @description The thread that all its runs continue, created if it does not exist; default: a new one for each run. */
      thread_id?: components['schemas']['Id'];
      /**
       * @description While the run of an earlier slot has not ended: `skip` (default), the slot passes; `queue`, it waits; `interrupt`, the earlier run is cancelled.
       * @enum {string}
       */
      overlap?: 'skip' | 'queue' | 'interrupt';
      /**
       * @description Which late slots still run: `none`, only the newest (`one`, default), or `all`.
       * @enum {string}
       */
      catch_up?: 'none' | 'one' | 'all';
      /** @description Each slot is delayed by up to this much. */
      jitter_ms?: number;
      /** @description Options of its runs, as in the request of a run. */
      options?: {
        /** @description Overrides the model of the agent, with those that stand in for it. */
        model?: string | string[] | components['schemas']['ModelFallback'];
        /** @description Overrides the strategy of the agent. */
        strategy?: string;
        /** @description Names of the tools to use instead of the tools of agent and thread. */
        tools?: string[];
        /** @description Restricts the available tools to these; an empty array allows none. */
        allowed_tools?: string[];
        /** @description Merged over the tool context of agent and thread. */
        tool_context?: JsonObject;
        /** @description Maximum number of iterations. */
        max_iterations?: number;
        /** @description Tokens of input and output after which the run ends with the best result it has. */
        max_total_tokens?: number;
        /** @description What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost more than is left. */
        max_cost?: number;
        /** @description Time after its start at which the run ends with the best result it has. */
        max_duration_ms?: number;
        /** @description Priority of the job: 0 (default) goes first, then lower numbers before higher ones. */
        priority?: number;
        /** @description Values that limits may apply to, by dimension. */
        limit_keys?: {
          [key: string]: string;
        };
        /** @description The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay. */
        ttl_ms?: number;
        /** @description Stored in the refs of the user message. */
        extra_refs?: JsonObject;
      };
      /** @description The next five slots; empty while the schedule is paused, and after its end. */
      next: string[];
      paused_at: string | null;
      /**
       * @description `code`: a program defines it.
       * @enum {string}
       */
      source: 'code' | 'user';
      /** @description Rises with every change. */
      version: number;
      /**
       * Format: date-time
       * @description When it was first set.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      updated_at: string;
      /** @description `operator`, `key:<id>`, `cli:<user>` or `code`. */
      updated_by: string;
    };
    NewSchedule: {
      agent: string;
      /** @description The user message of each run. In texts, `{{slot}}` is the time of the slot in ISO 8601, `{{date}}` and `{{time}}` its date and time in the time zone, and `{{previous}}` that of the last slot before it that started a run. */
      input: components['schemas']['Content'];
      /** @description Five fields, six with seconds in front, or a nickname such as `@daily`. Either this or `every_ms`. */
      cron?: string;
      /** @description The interval, counted from `start_at`, or from 1970 without `start_at`. */
      every_ms?: number;
      /** @description IANA time zone; default `UTC`. */
      time_zone?: string;
      /**
       * Format: date-time
       * @description No slot is before this time.
       */
      start_at?: string;
      /**
       * Format: date-time
       * @description Every slot is before this time.
       */
      end_at?: string;
      /** @description The thread that all its runs continue, created if it does not exist; default: a new one for each run. */
      thread_id?: components['schemas']['Id'];
      /**
       * @description While the run of an earlier slot has not ended: `skip` (default), the slot passes; `queue`, it waits; `interrupt`, the earlier run is cancelled.
       * @enum {string}
       */
      overlap?: 'skip' | 'queue' | 'interrupt';
      /**
       * @description Which late slots still run: `none`, only the newest (`one`, default), or `all`.
       * @enum {string}
       */
      catch_up?: 'none' | 'one' | 'all';
      /** @description Each slot is delayed by up to this much. */
      jitter_ms?: number;
      /** @description Options of its runs, as in the request of a run. */
      options?: {
        /** @description Overrides the model of the agent, with those that stand in for it. */
        model?: string | string[] | components['schemas']['ModelFallback'];
        /** @description Overrides the strategy of the agent. */
        strategy?: string;
        /** @description Names of the tools to use instead of the tools of agent and thread. */
        tools?: string[];
        /** @description Restricts the available tools to these; an empty array allows none. */
        allowed_tools?: string[];
        /** @description Merged over the tool context of agent and thread. */
        tool_context?: JsonObject;
        /** @description Maximum number of iterations. */
        max_iterations?: number;
        /** @description Tokens of input and output after which the run ends with the best result it has. */
        max_total_tokens?: number;
        /** @description What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost more than is left. */
        max_cost?: number;
        /** @description Time after its start at which the run ends with the best result it has. */
        max_duration_ms?: number;
        /** @description Priority of the job: 0 (default) goes first, then lower numbers before higher ones. */
        priority?: number;
        /** @description Values that limits may apply to, by dimension. */
        limit_keys?: {
          [key: string]: string;
        };
        /** @description The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay. */
        ttl_ms?: number;
        /** @description Stored in the refs of the user message. */
        extra_refs?: JsonObject;
      };
    };
    ScheduleSlotList: {
      data: components['schemas']['ScheduleSlot'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    ScheduleSlot: {
      /**
       * Format: date-time
       * @description The time of the slot, without jitter.
       */
      slot: string;
      /**
       * Format: date-time
       * @description When the slot starts its run: the time of the slot plus its jitter.
       */
      due_at: string;
      /** @enum {string} */
      status: 'due' | 'firing' | 'fired' | 'skipped' | 'missed' | 'failed';
      settled_at: string | null;
      thread_id: components['schemas']['Id'] | null;
      run_id: components['schemas']['Id'] | null;
      /** @description Why it failed. */
      error: {
        code: string;
        message: string;
      } | null;
    };
    /** @description One conversation and its append-only log. */
    Thread: {
      id: components['schemas']['Id'];
      tenant_id: components['schemas']['Id'];
      /** @description Number of entries. */
      rev: number;
      /** @description Number of events. To stream only new events, start after `event_rev` - 1. */
      event_rev: number;
      active_context_ref: components['schemas']['Id'];
      /** @description The run that is queued, running or suspended. */
      active_run_id: components['schemas']['Id'] | null;
      /** @description Your own data. */
      metadata: JsonObject;
      /** @description State written by tools. */
      state: JsonObject;
      /** @description The thread it was forked from. */
      parent_thread_id: components['schemas']['Id'] | null;
      /** @description The last entry of the parent that the fork includes. */
      fork_seq: number | null;
      /**
       * Format: date-time
       * @description When the thread was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When the thread was last written to.
       */
      updated_at: string;
      /** @description In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
      cost: number | null;
      /** @description Tokens of models without a known price; `cost` does not include them. */
      unpriced_tokens: number;
    };
    NewThread: {
      /** @description Default: a generated id. */
      id?: components['schemas']['Id'];
      tenant_id?: components['schemas']['Id'];
      /** @description Allowed only if every agent of the server lists `systemPrompt` as overridable. */
      system_prompt?: string | null;
      /** @description Your own data, up to 64 KiB, stored with the thread. */
      metadata?: JsonObject;
    };
    ThreadPage: {
      data: components['schemas']['ThreadSummary'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    /** @description A thread as lists show it. */
    ThreadSummary: {
      id: components['schemas']['Id'];
      tenant_id: components['schemas']['Id'];
      /** @description Number of entries. */
      rev: number;
      active_run_id: components['schemas']['Id'] | null;
      /** @description Your own data. */
      metadata: JsonObject;
      parent_thread_id: components['schemas']['Id'] | null;
      /**
       * Format: date-time
       * @description When the thread was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When the thread was last written to.
       */
      updated_at: string;
      /** @description Status of the active run, or else of the latest; null: no runs. */
      status: components['schemas']['RunStatus'] | null;
      /** @description How many threads the tool calls of its runs have created. */
      children: number;
      /** @description Number of runs, up to 1,000. */
      runs: number;
      /** @description Total tokens of these runs. */
      total_tokens: number;
      /** @description In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price. */
      cost: number | null;
      /** @description Tokens of models without a known price; `cost` does not include them. */
      unpriced_tokens: number;
      /** @description The active run, or else the latest. */
      last_run: {
        id: components['schemas']['Id'];
        agent: string;
        model: string;
        status: components['schemas']['RunStatus'];
        error_type: string | null;
        /** @description Whether the run ended with an answer; null until it ends. */
        answered: boolean | null;
        /** @description Why the run ended; null until then. */
        termination_reason: string | null;
        /**
         * Format: date-time
         * @description When the run was accepted.
         */
        at: string;
        /**
         * Format: date-time
         * @description No worker starts the run before this time.
         */
        start_at: string | null;
      } | null;
      /** @description The first 200 characters of the message that started the latest run. */
      last_message: string | null;
      /** @description Marks of its runs, counted by kind. A run that waits has its mark only in its thread. */
      marks: components['schemas']['MarkCount'][];
    };
    /** @description What the erasure of a thread removed. */
    ErasureReport: {
      thread_id: components['schemas']['Id'];
      tenant_id: components['schemas']['Id'];
      removed: components['schemas']['Removed'];
      /** @description Threads of the agents that its runs called, and of those that these called. They keep their text: erase each of them too, unless it has become a conversation of its own. */
      child_threads: components['schemas']['Id'][];
      /** @description What was not removed, such as backups and data that model providers keep. */
      left: string[];
    };
    /** @description How many of each were removed. */
    Removed: {
      /** @description Threads. */
      threads: number;
      /** @description Entries of their logs. */
      entries: number;
      /** @description Events of their traces. */
      events: number;
      /** @description Runs. */
      runs: number;
      /** @description Tool calls. */
      tool_calls: number;
      /** @description Inputs sent to runs. */
      inputs: number;
      /** @description Context operations. */
      operations: number;
      /** @description Large texts. */
      contents: number;
      /** @description Jobs in the queue. */
      jobs: number;
    };
    /** @description What the erasure of a tenant removed. */
    TenantErasureReport: {
      tenant_id: components['schemas']['Id'];
      removed: components['schemas']['Removed'];
      /** @description Threads that were kept because a run is active on them. Cancel the run first. */
      busy: components['schemas']['Id'][];
      /** @description The tenant has more threads: repeat the request. */
      more: boolean;
      /** @description What was not removed, such as backups and data that model providers keep. */
      left: string[];
    };
    /** @description Prompt and tool settings of a thread, which override those of its agents. */
    Config: {
      system_prompt: string | null;
      tools: {
        added: string[];
        removed: string[];
      };
      /** @description Merged over the tool context of the agent. */
      tool_context: JsonObject;
      context_policy: JsonObject | null;
    };
    ConfigReceipt: {
      /**
       * @description deferred: the change is applied when the active run ends.
       * @enum {string}
       */
      status: 'applied' | 'deferred';
      /** @description The first entry of the change. */
      first_seq: number | null;
    };
    ConfigChange: {
      /** @description null: no system prompt. */
      system_prompt?: string | null;
      /** @description Replaces the tool context of the thread. */
      tool_context?: JsonObject;
      /** @description null: back to the policy of the agent. */
      context_policy?:
        | ('window' | 'short_context' | 'long_context' | 'tool_focused')
        | {
            /** @description Tokens of request and answer together. Default: the window of the model, or no limit if that is unknown; `window` rejects a model whose window is unknown; null: no limit. */
            max_input_tokens?: number | 'window' | null;
            /** @description Left for the answer. Default: 2,000, at most a third of the limit; of a window, `max_output_tokens` of the settings, or else an eighth, at most 32,000. */
            reserve_output_tokens?: number;
            /** @description Maximum messages besides the system prompt; 0: no limit. */
            max_messages?: number;
            /** @description Newest turns to keep whole, even over budget; default 3. */
            keep_last_turns?: number;
            /**
             * @description `use_existing` (default) sends the summary of a compaction, `none` leaves it out, `request_new` also makes one: a run over budget compacts its lane.
             * @enum {string}
             */
            summarization?: 'none' | 'use_existing' | 'request_new';
            /** @description Share of the budget at which a run requests a compaction of its lane when it ends; default: none. */
            compact_at?: number;
            /** @enum {string} */
            summary_role?: 'system' | 'user';
            include_kinds?: ('message' | 'tool_call' | 'tool_result' | 'summary')[];
            system_prompt?: string;
            /** @description `heuristic`, `calibrated` (default), `exact`, or the name of a custom estimator of the server. */
            token_estimator?: string;
            projector?: string;
          }
        | null;
      register_tools?: string[];
      unregister_tools?: string[];
      /** @description The lane; default: the whole thread. */
      context_ref?: components['schemas']['Id'];
    };
    NewFork: {
      /** @description Default: a generated id. Repeating a request with the same id returns the same fork. */
      id?: components['schemas']['Id'];
      /** @description The last entry that the fork includes; -1: none. Default: the last of the thread. */
      at_seq?: number;
      /** @description Only this lane; default: all lanes, except lanes on which strategies asked their own questions. */
      context_ref?: components['schemas']['Id'];
      /** @description Your own data, up to 64 KiB; the parent’s is not copied. */
      metadata?: JsonObject;
      /** @description Replaces the prompts of all lanes. Every agent must list `systemPrompt` as overridable. */
      system_prompt?: string | null;
      /** @description Give tool calls without a result a flagged error result, instead of failing. */
      repair?: boolean;
    };
    /** @description A new lane of a thread, and the run that was accepted with it. */
    BranchReceipt: {
      op_id: components['schemas']['Id'];
      /** @description The new lane. */
      context_ref: components['schemas']['Id'];
      /** @description Its anchor. */
      seq: number;
      parent: {
        /** @description The lane that it left. */
        context_ref: components['schemas']['Id'];
        /** @description The last entry whose context it has; -1: none. */
        after_seq: number;
        /** @description The message that the first one of the branch follows; null: it is empty before. */
        parent_seq: number | null;
      };
      /** @description Whether it is the active lane now. While a run is active, it is shown later. */
      shown: boolean;
      /** @description The branch was made by an earlier request. */
      duplicate: boolean;
      run: components['schemas']['RunReceipt'] | null;
    };
    NewBranch: {
      /** @description The last entry whose context the branch has; -1: none. */
      after_seq?: number;
      /** @description Instead of `afterSeq`: a question as `listUiMessages` has it, or its answer. With `input`, the branch replaces the question; without, it answers the question again. Needs `agent`. */
      message_id?: components['schemas']['Id'];
      /** @description The lane to leave; default: the lane that has the entry, or for a message the active lane. A branch has the messages of the lanes it left, too. */
      context_ref?: components['schemas']['Id'];
      /** @description Name of the new lane. Default: that of the other lane with a number, such as `default@2`. */
      lane?: components['schemas']['Id'];
      /** @description Whether the branch becomes the active lane; default true. */
      show?: boolean;
      /** @description A second request with this id returns the same branch. It is also the request id of its run. You can send it as `Idempotency-Key` instead. */
      op_id?: components['schemas']['Id'];
      /**
       * @description If the thread has an active run: `reject` (default) fails with 409 `thread_busy`; `wait` makes the branch and shows it when its run begins, or when the active run has ended; `interrupt` cancels that run, which also needs the scope `steer`.
       * @enum {string}
       */
      busy?: 'reject' | 'wait' | 'interrupt';
      /** @description The agent of a run on the branch. Default: no run. */
      agent?: string;
      /** @description What the run is asked. Without it, the run answers the question of `messageId`, or that of `afterSeq`. */
      input?: components['schemas']['Content'];
      /** @description No worker starts the run before this delay. Meanwhile, the run keeps its thread busy. */
      delay_ms?: number;
      /** @description The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay. */
      ttl_ms?: number;
      /** @description Stored in the refs of the user message. */
      extra_refs?: JsonObject;
      /** @description The version of the agent: a label or an id. Default: what its rollout chooses. */
      version?: string;
      /** @description Overrides the model of the agent, with those that stand in for it. */
      model?: string | string[] | components['schemas']['ModelFallback'];
      /** @description Overrides the strategy of the agent. */
      strategy?: string;
      /** @description Options of the strategy, merged over the agent’s if it has the same strategy. */
      strategy_options?: JsonObject;
      /** @description Names of the tools to use instead of the tools of agent and thread. */
      tools?: string[];
      /** @description Restricts the available tools to these; an empty array allows none. */
      allowed_tools?: string[];
      /** @description Merged over the tool context of agent and thread. */
      tool_context?: JsonObject;
      /** @description Overrides the settings of the agent, key by key. */
      settings?: components['schemas']['Settings'];
      /** @description HTTP headers of the model calls, merged with those in the settings. Stored with the run. */
      headers?: {
        [key: string]: string;
      };
      /** @description Name of the request transformer to use instead of the agent’s. */
      request_transformer?: string;
      /** @description Replaces the context policy of agent and thread. */
      context_policy?: components['schemas']['ContextPolicy'];
      /** @description Maximum number of iterations. */
      max_iterations?: number;
      /** @description Tokens of input and output after which the run ends with the best result it has. */
      max_total_tokens?: number;
      /** @description What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost more than is left. */
      max_cost?: number;
      /** @description Time after its start at which the run ends with the best result it has. */
      max_duration_ms?: number;
      /** @description Whether the model streams its answer. */
      streaming?: boolean;
      /** @description How long a model may stay silent before the run fails; 0: the tool timeout + 60,000. */
      idle_timeout_ms?: number;
      output?: components['schemas']['OutputContract'];
      /** @description Time limit of one tool attempt. */
      tool_timeout_ms?: number;
      /** @description Priority of the job: 0 (default) goes first, then lower numbers before higher ones. */
      priority?: number;
      /** @description Values that limits may apply to, by dimension. */
      limit_keys?: {
        [key: string]: string;
      };
      /**
       * @description rewind: after a failure, the lane goes back to its state before the run.
       * @enum {string}
       */
      on_failure?: 'keep' | 'rewind';
    };
    BranchList: {
      data: components['schemas']['Branch'][];
    };
    /** @description A lane, and where it left another one: a row of the view `lane_tree`. */
    Branch: {
      context_ref: components['schemas']['Id'];
      parent_context_ref: components['schemas']['Id'] | null;
      /** @description The last entry whose context the branch has; -1: none. */
      branched_after_seq: number | null;
      /** @description The message that the first one of the branch follows; null: it is empty before. */
      parent_seq: number | null;
      /** @description The first lane of its tree. */
      root_context_ref: components['schemas']['Id'];
      /** @description The anchor with which the branch began. */
      branch_seq: number | null;
      /** @description Whether it is the active lane of the thread. */
      shown: boolean;
      /** @description The last entry of the lane. */
      last_seq: number;
      /**
       * Format: date-time
       * @description When the lane began.
       */
      created_at: string;
    };
    TreePage: {
      data: components['schemas']['TreeMessage'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    /** @description A message, the one before it and its siblings: a row of the view `message_tree`. */
    TreeMessage: {
      /** @description The entry of the message. */
      seq: number;
      /** @description The lane on which it was written. */
      context_ref: components['schemas']['Id'];
      role: string;
      run_id: components['schemas']['Id'] | null;
      /** @description The message before it, across branches; null: it is the first. */
      parent_seq: number | null;
      /** @description How many messages follow the same one, itself included. */
      siblings: number;
      /** @description Its place among them, from 1, in the order of the log. */
      place: number;
    };
    AppendReceipt: {
      first_seq: number;
      /** @description Current number of entries of the thread. For a duplicate, it includes entries appended since. */
      rev: number;
      duplicate: boolean;
    };
    AppendEntries: {
      entries: (components['schemas']['NewMessageEntry'] | components['schemas']['NewOwnEntry'])[];
      /** @description Append only if the thread is at this `rev`; otherwise fail with `rev_conflict`. */
      expected_rev?: number;
      /** @description Add flagged error results for tool calls that have no result. */
      repair?: boolean;
      /** @description A second request with this id returns the first receipt. You can send the id as `Idempotency-Key` instead. */
      op_id?: components['schemas']['Id'];
    };
    /** @description A message on a lane; default: the lane `default`. */
    NewMessageEntry: {
      /** @enum {string} */
      kind: 'ai_message';
      context_ref?: components['schemas']['Id'];
      payload: components['schemas']['Message'];
      /** @description Provenance; your own data, up to 64 KiB. */
      refs?: JsonObject;
    };
    /** @description An entry of your own kind, which no model sees. */
    NewOwnEntry: {
      /** @description Default: `note`. */
      kind?: string;
      context_ref?: components['schemas']['Id'];
      /** @description Your own data; default: {}. */
      payload?: JsonObject;
      /** @description Provenance; your own data, up to 64 KiB. */
      refs?: JsonObject;
    };
    EntryPage: {
      data: components['schemas']['Entry'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    /** @description One row of the append-only log. */
    Entry: {
      /** @description Position in the log, from 0, without gaps. */
      seq: number;
      kind: string;
      context_ref: string | null;
      role: string | null;
      op_id: string | null;
      run_id: string | null;
      request_id: string | null;
      /** @description Content of the entry. */
      payload: JsonObject;
      /** @description Provenance. */
      refs: JsonObject;
      /**
       * Format: date-time
       * @description When the entry was appended.
       */
      at: string;
    };
    /** @description A part of a large text. */
    ContentRange: {
      id: components['schemas']['Id'];
      /** @description Length of the whole text in characters (code points). */
      chars: number;
      /** @description Length of the whole text in bytes of UTF-8. */
      bytes: number;
      /** @description Where this part begins, in characters. */
      offset: number;
      text: string;
      /** @description Where the next part begins; null at the end. */
      next_offset: number | null;
    };
    UiMessagePage: {
      data: components['schemas']['UiMessage'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    /** @description A `UIMessage` of the AI SDK, with the AI SDK’s field names. */
    UiMessage: {
      /** @description For a question, its request id; for an answer, the id of its run. */
      id: string;
      /** @enum {string} */
      role: 'user' | 'assistant';
      /** @description For an answer: `thread_id`, `run_id`, `usage`, `termination_reason`, `error`. For a message that has other versions on other branches: `versions`, with its `place` among them, from 1, and for each version a lane to show, in `lanes`. */
      metadata?: {
        [key: string]: unknown;
      };
      /** @description As in the AI SDK. */
      parts: ({
        type: string;
      } & {
        [key: string]: unknown;
      })[];
    };
    /** @description An imported thread. */
    ImportReceipt: {
      id: components['schemas']['Id'];
      /** @description Number of entries; the last one is of the kind `thread_import`. */
      rev: number;
      /** @description The same was imported before; nothing was written. */
      duplicate: boolean;
      /** @description What could not be carried over unchanged. */
      notes: {
        /** @enum {string} */
        outcome: 'left_out' | 'changed' | 'repaired';
        /** @description Where it is in the source. */
        where: string;
        what: string;
      }[];
    };
    NewImport: {
      /** @enum {string} */
      format: 'lanefold' | 'openai' | 'ai-sdk';
      /** @description For `lanefold`: the lines of an export, unchanged. */
      lines?: string[];
      /** @description For `openai`: items of OpenAI, oldest first, or chat messages. */
      items?: Json;
      /** @description For `ai-sdk`: `UIMessage`s of the AI SDK. */
      messages?: unknown[];
      /** @description Default: a generated id. Importing the same again under the same id changes nothing. */
      id?: components['schemas']['Id'];
      /** @description Your own data, up to 64 KiB; default: that of the export. */
      metadata?: JsonObject;
    };
    /** @description Tools that the thread adds to or removes from any agent that runs on it. */
    ToolList: {
      added: string[];
      removed: string[];
      /** @description All tools that this server knows: the tools of its agents, and shared tools. */
      known: string[];
    };
    WaitPage: {
      data: components['schemas']['PendingWait'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow. */
      next_after: string | null;
    };
    /** @description A tool call that waits for an event, a time or another run. */
    PendingWait: {
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      /** @description The name of the call: its round and index. */
      call: string;
      /** @description Tool round of the run, from 1. */
      round: number;
      /** @description Position in the round, from 0. */
      index: number;
      /** @description The name of the tool. */
      name: string;
      /** @enum {string} */
      kind: 'event' | 'time' | 'run';
      /** @description The event it waits for. */
      event: components['schemas']['Id'] | null;
      /** @description The run it waits for. */
      run: components['schemas']['RunRef'] | null;
      /**
       * Format: date-time
       * @description Since when it waits.
       */
      since: string;
      /**
       * Format: date-time
       * @description When it ends by itself; null: never.
       */
      until: string | null;
    };
    ResolvedWait: {
      /** @description false: the wait had ended before, and nothing changed. */
      resolved: boolean;
      /**
       * @description How the wait ended; `overridden`: by hand.
       * @enum {string}
       */
      wait: 'resolved' | 'expired' | 'overridden' | 'abandoned';
      /** @description The status of the run: `suspended` while other calls wait. */
      status: components['schemas']['RunStatus'];
    };
    Resolution: {
      /** @description The result of the call: text or JSON; default null. */
      result?: Json;
      /** @description The call fails with this message instead. */
      error?: string;
      /** @description Who resolved it. */
      by?: string;
    };
    WebhookList: {
      data: components['schemas']['Webhook'][];
    };
    Webhook: {
      name: components['schemas']['Id'];
      /** @description The tenant whose events it gets. */
      tenant: components['schemas']['Id'];
      /** @description Where its events go. Keys without the scope `admin` see only the origin. */
      url: string;
      /** @description The types of events to send; empty: all types. */
      types: (
        | 'run.completed'
        | 'run.failed'
        | 'run.cancelled'
        | 'approval.requested'
        | 'wait.started'
        | 'limit.exhausted'
        | 'schedule.missed'
        | 'monitor.low'
        | 'monitor.recovered'
        | 'alarm.raised'
        | 'alarm.cleared'
        | 'circuit.opened'
        | 'circuit.closed'
      )[];
      /** @description The agents whose events are sent; empty: all agents. */
      agents: string[];
      /** @description Whether the events of a thread are sent in order, one at a time. */
      ordered: boolean;
      /** @description Whether `run.completed` includes the result of the run, up to 64 KiB. */
      include_result: boolean;
      /** @description The body that is sent instead of the event; null: the event. Keys without the scope `admin` do not see it. */
      template: JsonObject | null;
      paused_at: string | null;
      /** @description Why: by hand, after many failures, or because it answered 410 Gone. */
      paused_reason: ('manual' | 'failures' | 'gone') | null;
      /** @description How many attempts in a row have failed. */
      failures: number;
      failing_since: string | null;
      /** @description How many deliveries were dropped because too many were waiting. */
      dropped: number;
      /** @description Rises with every change. */
      version: number;
      /**
       * Format: date-time
       * @description When it was first set.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      updated_at: string;
      /** @description `operator`, `key:<id>`, `cli:<user>` or `lanefold`. */
      updated_by: string;
    };
    WebhookSet: {
      name: components['schemas']['Id'];
      /** @description The tenant whose events it gets. */
      tenant: components['schemas']['Id'];
      /** @description Where its events go. Keys without the scope `admin` see only the origin. */
      url: string;
      /** @description The types of events to send; empty: all types. */
      types: (
        | 'run.completed'
        | 'run.failed'
        | 'run.cancelled'
        | 'approval.requested'
        | 'wait.started'
        | 'limit.exhausted'
        | 'schedule.missed'
        | 'monitor.low'
        | 'monitor.recovered'
        | 'alarm.raised'
        | 'alarm.cleared'
        | 'circuit.opened'
        | 'circuit.closed'
      )[];
      /** @description The agents whose events are sent; empty: all agents. */
      agents: string[];
      /** @description Whether the events of a thread are sent in order, one at a time. */
      ordered: boolean;
      /** @description Whether `run.completed` includes the result of the run, up to 64 KiB. */
      include_result: boolean;
      /** @description The body that is sent instead of the event; null: the event. Keys without the scope `admin` do not see it. */
      template: JsonObject | null;
      paused_at: string | null;
      /** @description Why: by hand, after many failures, or because it answered 410 Gone. */
      paused_reason: ('manual' | 'failures' | 'gone') | null;
      /** @description How many attempts in a row have failed. */
      failures: number;
      failing_since: string | null;
      /** @description How many deliveries were dropped because too many were waiting. */
      dropped: number;
      /** @description Rises with every change. */
      version: number;
      /**
       * Format: date-time
       * @description When it was first set.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it was last changed.
       */
      updated_at: string;
      /** @description `operator`, `key:<id>`, `cli:<user>` or `lanefold`. */
      updated_by: string;
      /** @description The secret for verifying signatures. It is shown only here. */
      secret?: string;
    };
    NewWebhook: {
      /** @description An `https:` URL at a public address. */
      url: string;
      /** @description The types of events to send; empty: all types. */
      types?: (
        | 'run.completed'
        | 'run.failed'
        | 'run.cancelled'
        | 'approval.requested'
        | 'wait.started'
        | 'limit.exhausted'
        | 'schedule.missed'
        | 'monitor.low'
        | 'monitor.recovered'
        | 'alarm.raised'
        | 'alarm.cleared'
        | 'circuit.opened'
        | 'circuit.closed'
      )[];
      /** @description The agents whose events are sent; empty: all agents. */
      agents?: string[];
      /** @description Whether the events of a thread are sent in order, one at a time. */
      ordered?: boolean;
      /** @description Whether `run.completed` includes the result of the run, up to 64 KiB. */
      include_result?: boolean;
      /** @description The body to send instead of the event, as Slack or a mail gateway expects it. Texts in it may name `{{id}}`, `{{type}}`, `{{timestamp}}` and fields of `{{data}}`, such as `{{data.agent}}`. */
      template?: JsonObject;
    };
    WebhookSecret: {
      /** @description The secret for verifying signatures. It is shown only here. */
      secret: string;
    };
    NewWebhookSecret: {
      /** @description How long earlier secrets stay valid; default one day. */
      keep_ms?: number;
    };
    WebhookTest: {
      /** @description The delivery. */
      id: components['schemas']['Id'];
    };
    WebhookDeliveryList: {
      data: components['schemas']['WebhookDelivery'][];
    };
    WebhookDelivery: {
      /** @description The `webhook-id` of all its attempts. */
      id: components['schemas']['Id'];
      thread_id: string;
      type: string;
      /** @enum {string} */
      status: 'pending' | 'delivered' | 'failed' | 'dropped';
      /** @description Attempts begun. */
      attempts: number;
      /**
       * Format: date-time
       * @description When the event happened.
       */
      created_at: string;
      next_at: string | null;
      attempted_at: string | null;
      settled_at: string | null;
      /** @description How long the last attempt took. */
      duration_ms: number | null;
      /** @description The status of the last answer. */
      status_code: number | null;
      /** @description Why the last attempt failed. */
      error: {
        code: string;
        message: string;
      } | null;
      /** @description The beginning of the last answer. */
      answer: string | null;
      /** @description The event: `type`, `timestamp` and `data`. It is the body, unless the webhook has a template. */
      payload: JsonObject;
    };
    WebhookRedelivered: {
      /** @description How many are sent again. */
      redelivered: number;
    };
    WebhookRedelivery: {
      /** @description One delivery. */
      id?: components['schemas']['Id'];
      /**
       * Format: date-time
       * @description All failed and dropped deliveries of events since this time. Set either this field or `id`.
       */
      since?: string;
    };
    WorkerList: {
      data: components['schemas']['Worker'][];
    };
    /** @description A worker, in any process. */
    Worker: {
      id: string;
      /**
       * @description `draining`: takes no more runs and stops once its runs are done. `dead`: stopped reporting. `stopped`: shut down properly.
       * @enum {string}
       */
      state: 'alive' | 'draining' | 'dead' | 'stopped';
      /** @description The machine or container it runs on. */
      host: string;
      pid: number;
      /** @description Version of the package. */
      version: string;
      /** @description Prefix of the queues it takes jobs from. */
      queue: string;
      agents: string[];
      strategies: string[];
      /** @description Maximum concurrent runs. */
      concurrency: number;
      /** @description Runs it held at its last heartbeat. */
      runs_held: number;
      /**
       * Format: date-time
       * @description When it started.
       */
      started_at: string;
      /**
       * Format: date-time
       * @description When it last reported.
       */
      heartbeat_at: string;
      /**
       * Format: date-time
       * @description When it shut down properly.
       */
      stopped_at: string | null;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
