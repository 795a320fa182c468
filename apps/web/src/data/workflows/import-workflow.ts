import { ApiError } from '../../api/client.ts'
import { workflowRequest } from '../../api/workflows.ts'
import { isImportReport, type WorkflowImportReport } from '../../model/workflows/workflow-import.ts'

interface ImportOptions {
  /** As the new version of a workflow that exists. */
  readonly overwrite: boolean
  /** Only check it. */
  readonly dryRun: boolean
}

/** Sends a definition in YAML or JSON. */
export async function importDefinition(
  text: string,
  { overwrite, dryRun }: ImportOptions,
): Promise<WorkflowImportReport> {
  const query = new URLSearchParams({ overwrite: String(overwrite), dryRun: String(dryRun) })
  try {
    return await workflowRequest<WorkflowImportReport>(`/workflows?${query}`, {
      method: 'POST',
      body: text,
    })
  } catch (error) {
    const document = error instanceof ApiError ? error.document : undefined
    if (isImportReport(document)) return document
    throw error
  }
}
