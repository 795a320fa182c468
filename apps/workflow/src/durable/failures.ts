// Loaded by Temporal by its path: encodes failure messages with the codec, like values.
import { DefaultFailureConverter } from '@temporalio/common'

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true })
