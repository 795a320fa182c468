# A user for a script, with an API token that expires.
terraform {
  required_providers {
    skerry = { source = "skerry.example/skerry/skerry" }
  }
}

# SKERRY_URL and SKERRY_TOKEN say which cloud, and as whom.
provider "skerry" {}

variable "name" {
  default = "nightly"
}

variable "days" {
  default = 90
}

variable "password" {
  sensitive = true
}

data "skerry_org" "own" {}

resource "skerry_user" "script" {
  name     = var.name
  role     = "user"
  password = var.password
}

resource "skerry_token" "script" {
  name     = "backup"
  user     = "${skerry_user.script.name}@${data.skerry_org.own.name}"
  password = var.password
  days     = var.days
}

output "token" {
  value     = skerry_token.script.secret
  sensitive = true
}
