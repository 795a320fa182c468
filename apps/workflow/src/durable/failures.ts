// Loaded by Temporal, by its path: the words of an error go where values go, through the codec.
import { DefaultFailureConverter } from '@temporalio/common'

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true })
