/** What a definition may be. Each bound is far beyond what people write, and far below what would hurt a server. */
export const DEFINITION_LIMITS = {
  bytes: 256 * 1024,
  /** Mappings and lists inside of each other. */
  depth: 64,
  /** Texts, numbers, mappings and lists together. */
  values: 20_000,
  /** Words and marks of the text, before they mean anything. */
  tokens: 100_000,
  tasks: 1000,
  keyLength: 256,
  taskNameLength: 100,
  /** jq keeps its program on a small stack. */
  expressionLength: 8 * 1024,
  addressLength: 2048,
  /** Milliseconds: longer waits are a schedule's work. */
  duration: 366 * 24 * 3600 * 1000,
  /** More are found, but not told. */
  complaints: 50,
} as const
