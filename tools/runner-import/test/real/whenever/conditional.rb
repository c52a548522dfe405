require File.expand_path('../environment', __FILE__)
set :environment, Rails.env
if Rails.env.production?
  every 1.hour do
    rake "db:backup"
  end
else
  every 1.day do
    rake "db:seed"
  end
end
ENV.each { |k, v| env(k, v) }
every 30.minutes do
  rake "price:update"
end
