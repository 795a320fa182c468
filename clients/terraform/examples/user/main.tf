# A user of the organisation, for its administrators.
terraform {
  required_providers {
    skerry = { source = "skerry.example/skerry/skerry" }
  }
}

# SKERRY_URL and SKERRY_TOKEN say which cloud, and as whom.
provider "skerry" {}

variable "name" {
  default = "rita"
}

variable "role" {
  default = "author"
}

variable "password" {
  sensitive = true
}

resource "skerry_user" "rita" {
  name     = var.name
  role     = var.role
  password = var.password
}
