-- Like create_author.lua, with a token, the second argument.
local number, token

function init(arguments)
  number = tonumber(arguments[1])
  token = arguments[2]
end

function request()
  number = number + 1
  local body = string.format('{"user_id": %d, "username": "author %d"}', number, number)
  return wrk.format("POST", nil, {["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. token}, body)
end
