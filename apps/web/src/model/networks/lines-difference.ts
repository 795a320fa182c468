export interface LinesDifference {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** What somebody else changed: documents are compared by what they contain, a line each. */
export const differenceOf = (
  before: readonly string[],
  after: readonly string[],
): LinesDifference => ({
  added: after.filter((line) => !before.includes(line)),
  removed: before.filter((line) => !after.includes(line)),
})
