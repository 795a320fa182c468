export { CloudApi, type CloudApiOptions, type OperationRequest } from './cloud-api.ts'
export { CloudApiError } from './cloud-api-error.ts'
export { cloudOperations, type CloudDocuments, type CloudOperations } from './documents.gen.ts'
