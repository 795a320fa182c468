export { element, renderDocument, renderElement, type AttributeInput, type Child } from './build.ts'
export { withReplacements } from './characters.ts'
export type { Element } from './element.ts'
export {
  attribute,
  child,
  children,
  childrenByLocalName,
  find,
  localName,
  text,
} from './navigate.ts'
export { readXml, type XmlLimits } from './read.ts'
export { fromJson } from './from-json.ts'
export { jsonSchemas, type JsonSchema, type NamedSchemas } from './json-schema.ts'
export { readJson } from './read-json.ts'
export { isObjectShape, keysOf, type ElementShape } from './shape.ts'
export { shapesOf } from './shapes.ts'
export { jsonMedia, toJson } from './to-json.ts'
