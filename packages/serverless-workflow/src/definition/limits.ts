/** Limits of a definition: far above any real definition, far below what would harm a server. */
export const DEFINITION_LIMITS = {
  bytes: 256 * 1024,
  /** Nesting of mappings and lists. */
  depth: 64,
  /** Total number of texts, numbers, mappings and lists. */
  values: 20_000,
  /** YAML tokens of the text. */
  tokens: 100_000,
  tasks: 1000,
  keyLength: 256,
  taskNameLength: 100,
  /** jq keeps its program on a small stack. */
  expressionLength: 8 * 1024,
  addressLength: 2048,
  /** In milliseconds; use a schedule for longer waits. */
  duration: 366 * 24 * 3600 * 1000,
  /** The maximum number of reported errors. */
  complaints: 50,
} as const
