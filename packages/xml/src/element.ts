/** One XML element as plain data: what `element` builds, what `readXml` gives, and what is rendered. */
export interface Element {
  /** As written, with its prefix if it has one. */
  readonly name: string
  /** Has no prototype, so that every key in it is an attribute. */
  readonly attributes: Readonly<Record<string, string>>
  /** Neighbouring texts are one string, and no string is empty. */
  readonly children: readonly (Element | string)[]
}
